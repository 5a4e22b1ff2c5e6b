package events

// frameBytes is how long the frame is that a serializer of Confluent's schema registry puts before a message
// (docs/events.md#the-envelope): a zero byte, with which no JSON begins, and the schema's number, of four bytes.
const frameBytes = 5

// Unframed is a message without the frame that a serializer of a schema registry has put before it, if it has one. It
// shares the memory of the message.
func Unframed(value []byte) []byte {
	if len(value) < frameBytes || value[0] != 0 {
		return value
	}
	return value[frameBytes:]
}
