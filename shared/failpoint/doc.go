// Package failpoint names steps of the services at which a test can stop or kill them, or shift their clock. All of it
// is empty, and gone after inlining, unless a binary is built with the tag failpoint, which no released one is.
package failpoint

// Point is a step. It is also the name of the file that arms it.
type Point string

// The points.
const (
	BeforeCommit  Point = "before-commit"  // the origin knows all of a write and has not sent its COMMIT
	BeforePublish Point = "before-publish" // a write is committed, and nobody has been told
	BeforeAnswer  Point = "before-answer"  // the edges that were waited for have the change, who wrote it knows nothing
	EntryRead     Point = "entry-read"     // the origin has read what a fill is to bring, and holds the key's lock
	StretchSent   Point = "stretch-sent"   // the origin has sent all that a stretch of clicks counts but its COMMIT
	StretchKept   Point = "stretch-kept"   // a stretch of clicks is committed, and its edge knows nothing
	WallClock     Point = "wall-clock"     // this machine's clock is read; see Clock
)

// Folder is the environment variable that names the folder of the files that arm points. A file is used up by the first
// pass that finds it, so that it is gone once what it asked for has begun. It holds one word.
const Folder = "WAYPOST_FAILPOINTS"

// What a point can be made to do.
const (
	Kill = "kill" // the process ends as by SIGKILL
	Stop = "stop" // the process stops as by SIGSTOP, and goes on there at SIGCONT
)
