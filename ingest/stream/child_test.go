package stream

// workerChild is the environment variable that makes the test binary a worker that a test can kill.
const workerChild = "TALLYHOUSE_TEST_WORKER"

func runWorkerChild() {}
