package world

// The limits of a world. They bound what the agents of one trace can make a monitor keep:
// at them a world takes about a gigabyte. An edit that goes beyond is not made, and the
// world has overflowed.
const (
	maxVertices = 1 << 20 // names of vertices that were met
	maxObjects  = 1 << 20 // names of objects that were met
	maxEdges    = 1 << 22 // edges and channels
	maxReplicas = 1 << 22
	maxLabels   = 1 << 12 // names of labels; each knows its vertices
	maxDomains  = 1 << 10 // names of domains; each takes a bit per vertex
	maxTuples   = 1 << 20 // of attributes and states, and derivations
	maxName     = 1 << 12 // bytes of a name or of a string in a tuple
	maxCalls    = 1 << 12 // calls in flight or in doubt
	// maxDistance keeps sums along paths below 1<<63.
	maxDistance = 1 << 40
	// maxDoubts is how many calls in doubt can be taken back: what they wrote is kept
	// twice. Older ones stay in doubt, but Revert leaves what they wrote.
	maxDoubts = 64
)
