module waypost/bench

go 1.26.8

require (
	waypost/deploy v0.0.0
	waypost/shared v0.0.0
)

replace waypost/shared => ../shared

replace waypost/deploy => ../deploy
