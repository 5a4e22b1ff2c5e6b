package sandbox

// DataLimit is what the kernel is asked to let a child have.
var DataLimit = dataLimit
