package deploy

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/nats-io/nats-server/v2/server"
)

// root is the repository's root, seen from this package.
const root = ".."

// required are the variables without which compose must not start; each has a value that is easy to find again.
func required() types.Mapping {
	return types.Mapping{
		"WAYPOST_POSTGRES_PASSWORD":    "given-postgres",
		"WAYPOST_REDIS_PASSWORD":       "given-redis",
		"WAYPOST_NATS_ORIGIN_PASSWORD": "given-nats-origin",
		"WAYPOST_NATS_EDGE_PASSWORD":   "given-nats-edge",
		"WAYPOST_INTERNAL_SECRET":      "given-internal",
	}
}

// load reads the compose file as compose does, with these variables set.
func load(t *testing.T, env types.Mapping) (*types.Project, error) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  filepath.Dir(path),
		ConfigFiles: []types.ConfigFile{{Filename: path}},
		Environment: env,
	})
}

func project(t *testing.T) *types.Project {
	t.Helper()
	p, err := load(t, required())
	if err != nil {
		t.Fatalf("docker-compose.yml: %v", err)
	}
	return p
}

func TestComposeHasTheParts(t *testing.T) {
	t.Parallel()
	want := []string{"edge-eu", "edge-us", "nats", "origin", "postgres", "redis-eu", "redis-us"}
	if got := slices.Sorted(maps.Keys(project(t).Services)); !slices.Equal(got, want) {
		t.Errorf("services %v, want %v", got, want)
	}
}

func TestComposeRefusesToStartWithoutAnyOfTheSecrets(t *testing.T) {
	t.Parallel()
	for name := range required() {
		for what, set := range map[string]func(types.Mapping){
			"unset": func(env types.Mapping) { delete(env, name) },
			"empty": func(env types.Mapping) { env[name] = "" },
		} {
			env := required()
			set(env)
			if _, err := load(t, env); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("with %s %s: error %v, want one that names it", name, what, err)
			}
		}
	}
}

func TestComposeHoldsNoLiteralSecret(t *testing.T) {
	t.Parallel()
	given := slices.Collect(maps.Values(required()))
	for name, s := range project(t).Services {
		for key, value := range s.Environment {
			secret := strings.Contains(key, "PASSWORD") || strings.Contains(key, "SECRET") || strings.Contains(key, "AUTH") ||
				(value != nil && (strings.Contains(*value, "@") || strings.Contains(*value, "password:")))
			if !secret || value == nil || strings.HasPrefix(key, "POSTGRES_INITDB") {
				continue
			}
			if !slices.ContainsFunc(given, func(g string) bool { return strings.Contains(*value, g) }) {
				t.Errorf("%s: %s = %q holds none of the values that were given", name, key, *value)
			}
		}
	}
}

func TestComposeServicesHaveHealthChecksAndRunWithoutRoot(t *testing.T) {
	t.Parallel()
	for name, s := range project(t).Services {
		if s.HealthCheck == nil || s.HealthCheck.Disable || len(s.HealthCheck.Test) < 2 {
			t.Errorf("%s has no health check", name)
		}
		if !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s keeps capabilities %v or may gain privileges %v", name, s.CapDrop, s.SecurityOpt)
		}
		if s.Privileged {
			t.Errorf("%s is privileged", name)
		}
		if s.Build != nil {
			continue // its Dockerfile says USER, see TestImagesAreStaticSmallAndNotRoot
		}
		if user, _, _ := strings.Cut(s.User, ":"); user == "" || user == "root" || user == "0" {
			t.Errorf("%s runs as user %q", name, s.User)
		}
	}
}

func TestComposePortsAreTheContracts(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"edge-eu":  {":8080->8080", "127.0.0.1:9180->9180"},
		"edge-us":  {":8081->8081", "127.0.0.1:9181->9181"},
		"origin":   {"127.0.0.1:9000->9000", "127.0.0.1:9100->9100"},
		"postgres": nil, "redis-eu": nil, "redis-us": nil, "nats": nil,
	}
	for name, s := range project(t).Services {
		var got []string
		for _, p := range s.Ports {
			got = append(got, p.HostIP+":"+p.Published+"->"+itoa(p.Target))
		}
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s publishes %v, want %v", name, got, want[name])
		}
	}
}

func TestComposeStartsEachPartOnceWhatItNeedsIsHealthy(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"origin":  {"nats", "postgres", "redis-eu"},
		"edge-eu": {"nats", "origin", "redis-eu"},
		"edge-us": {"nats", "origin", "redis-us"},
	}
	for name, s := range project(t).Services {
		if got := slices.Sorted(maps.Keys(s.DependsOn)); !slices.Equal(got, want[name]) {
			t.Errorf("%s depends on %v, want %v", name, got, want[name])
		}
		for on, dependency := range s.DependsOn {
			if dependency.Condition != types.ServiceConditionHealthy {
				t.Errorf("%s waits for %s to be %s, want %s", name, on, dependency.Condition, types.ServiceConditionHealthy)
			}
		}
	}
}

func TestComposeGivesEachServiceItsSurroundings(t *testing.T) {
	t.Parallel()
	p := project(t)
	for _, tt := range []struct{ service, name, want string }{
		{"origin", "WAYPOST_REDIS_URL", "redis://:given-redis@redis-eu:6379/0"},
		{"origin", "WAYPOST_NATS_URL", "nats://origin:given-nats-origin@nats:4222"},
		{"edge-eu", "WAYPOST_REDIS_URL", "redis://:given-redis@redis-eu:6379/0"},
		{"edge-us", "WAYPOST_REDIS_URL", "redis://:given-redis@redis-us:6379/0"},
		{"edge-us", "WAYPOST_NATS_URL", "nats://edge:given-nats-edge@nats:4222"},
		{"edge-eu", "WAYPOST_ORIGIN_URL", "http://origin:9001"},
		{"edge-us", "WAYPOST_REGION", "us"},
	} {
		value := p.Services[tt.service].Environment[tt.name]
		if value == nil || *value != tt.want {
			t.Errorf("%s: %s = %v, want %q", tt.service, tt.name, value, tt.want)
		}
	}
	secrets := make(map[string]bool)
	for _, name := range []string{"origin", "edge-eu", "edge-us"} {
		value := p.Services[name].Environment["WAYPOST_INTERNAL_SECRET"]
		if value == nil {
			t.Fatalf("%s has no internal secret", name)
		}
		secrets[*value] = true
	}
	if len(secrets) != 1 {
		t.Errorf("%d internal secrets, want one for all", len(secrets))
	}
}

// TestComposeCanMakeTheFilesOfEachService knows what compose refuses: it writes files that have no place on the host
// into the container, and a root file system that is read-only takes none.
func TestComposeCanMakeTheFilesOfEachService(t *testing.T) {
	t.Parallel()
	p := project(t)
	for name, s := range p.Services {
		if !s.ReadOnly {
			continue
		}
		for _, c := range s.Configs {
			if from := p.Configs[c.Source]; from.Content != "" || from.Environment != "" {
				t.Errorf("%s is read-only and has the config %s, which is no file", name, c.Source)
			}
		}
		for _, c := range s.Secrets {
			if from := p.Secrets[c.Source]; from.Content != "" || from.Environment != "" {
				t.Errorf("%s is read-only and has the secret %s, which is no file", name, c.Source)
			}
		}
	}
}

// TestComposeNATSLetsNoEdgePublishChanges runs the service's command in a shell, with a server in its place, and reads
// the configuration with the server's own reader.
func TestComposeNATSLetsNoEdgePublishChanges(t *testing.T) {
	t.Parallel()
	nats := project(t).Services["nats"]
	dir := t.TempDir()
	path := filepath.Join(dir, "nats.conf")
	argv := slices.Concat(nats.Entrypoint, nats.Command)
	script := &argv[len(argv)-1]
	*script = strings.ReplaceAll(*script, "/tmp/nats.conf", path)
	*script = strings.ReplaceAll(*script, "exec nats-server", "exec echo nats-server")
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "NATS_CONF=" + *nats.Environment["NATS_CONF"]}
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "nats-server -c "+path+"\n" {
		t.Fatalf("%q: %s, %v", argv, out, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("nats.conf: %v, %v, want mode 0600", info, err)
	}
	opts, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatalf("nats.conf: %v", err)
	}
	users := make(map[string]*server.User)
	for _, u := range opts.Users {
		users[u.Username] = u
	}
	edge, origin := users["edge"], users["origin"]
	if len(users) != 2 || edge == nil || origin == nil {
		t.Fatalf("%d users, want origin and edge", len(users))
	}
	if edge.Permissions == nil || !slices.Equal(edge.Permissions.Publish.Allow, []string{"*.probe", "*.ack.*"}) {
		t.Errorf("the edges' permissions are %+v, want publishing on *.probe and *.ack.* alone", edge.Permissions)
	}
	if origin.Permissions != nil {
		t.Errorf("the origin's permissions are %+v, want none", origin.Permissions)
	}
}
