package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"tallyhouse/api/feedback"
	"tallyhouse/api/problem"
	"tallyhouse/api/resource"
	"tallyhouse/schemas/jsontext"
)

var sendFeedback = operation{
	id: "sendFeedback", path: "/v0/feedback",
	summary: "Send feedback",
	description: "Says something about the API to those who run it. Open to every key and user, for 20 messages in 24 hours. Keys " +
		"and tokens must not be in it.",
	takes:       feedback.Schema(),
	maxMessages: feedback.Most,
	returns:     feedback.ReceiptSchema(),
}

// receive takes feedback. Its body is read before the request waits for its turn: a slow client takes nobody's.
func (s *Server) receive(ctx context.Context, r *http.Request, c *call) (reply, error) {
	in, err := readFeedback(r)
	if err != nil {
		return reply{}, err
	}
	if s.feedback == nil {
		return reply{}, errors.New("there is nowhere to keep feedback")
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, err := s.admission.enter(ctx, c.caller.Tenant(), c.caller.Principal())
	if err != nil {
		return reply{}, err
	}
	defer request.finish(0)
	receipt, err := s.feedback.Receive(ctx, c.caller.Tenant(), c.caller.Principal(), in)
	if limit, ok := errors.AsType[*feedback.LimitError](err); ok {
		s.metrics.refused.WithLabelValues("feedback").Inc()
		return reply{}, &problem.Error{Kind: problem.TooManyRequests, RetryAfter: limit.Wait,
			Detail: fmt.Sprintf("At most %d messages in any 24 hours are taken.", feedback.Most)}
	}
	if err != nil {
		return reply{}, err
	}
	body := jsontext.AppendString([]byte(`{"id":`), receipt.ID)
	body = resource.AppendInstant(append(body, `,"receivedAt":`...), receipt.ReceivedAt)
	return reply{status: http.StatusCreated, contentType: typeJSON, body: append(body, '}')}, nil
}

// readFeedback reads the body of a request, or says all that is wrong with it.
func readFeedback(r *http.Request) (feedback.Input, error) {
	refuse := func(detail string, wrong ...problem.Parameter) (feedback.Input, error) {
		return feedback.Input{}, &problem.Error{Kind: problem.InvalidBody, Detail: detail, Parameters: wrong}
	}
	types := r.Header.Values("Content-Type")
	if len(types) != 1 || r.Header.Get("Content-Encoding") != "" {
		return refuse("Send the body as application/json, without an encoding.")
	}
	kind, parameters, err := mime.ParseMediaType(types[0])
	if charset, given := parameters["charset"]; err != nil || kind != typeJSON || given && !strings.EqualFold(charset, "utf-8") {
		return refuse("Send the body as application/json.")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, feedback.MaxBody+1))
	switch {
	case err != nil:
		return refuse("The body could not be read to its end.")
	case len(body) > feedback.MaxBody:
		return refuse(fmt.Sprintf("The body has more than %d bytes.", feedback.MaxBody))
	}
	in, wrong, err := feedback.ParseInput(body)
	if err != nil {
		return refuse("The body cannot be taken: " + err.Error() + ".")
	}
	if len(wrong) > 0 {
		return refuse("The body cannot be taken; errors lists why.", wrong...)
	}
	return in, nil
}
