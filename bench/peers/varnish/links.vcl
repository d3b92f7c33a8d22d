# Every answer comes from Varnish's memory, once it was asked for. No limiter, and no log but that in shared memory.
vcl 4.1;

backend links {
	.host = "127.0.0.1";
	.port = "{{.Port}}";
}

sub vcl_backend_response {
	set beresp.ttl = 1d;
}
