package spool

import (
	"bytes"
	"os"
	"strconv"
)

// sleeps reports whether the kernel keeps a thread of this process waiting, as
// it does in a call of a disk that does not answer. A thread that runs, or would
// if the machine had a processor for it, does not sleep. True if nobody knows.
func sleeps(tid int) bool {
	stat, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(tid) + "/stat")
	if err != nil {
		return true
	}
	name := bytes.LastIndexByte(stat, ')') // then come a space and the state, proc(5)
	return len(stat) < name+3 || stat[name+2] != 'R'
}
