"""A model provider to rehearse with: OpenAI's protocol, no model behind it, trouble on demand.

    asked -> reaction              `reactions.py`: what may become of a request
    Rehearsal(settings)(asked)     `rehearsal.py`: the reaction that a seed draws
    Server(rehearsal)              `server.py`: listens, reacts, counts

Two kinds of trouble are kept apart. What *the provider* does to a request (limits, errors, hangs,
lost connections) is drawn anew each time the request is sent, so that whoever tries again gets
through. What *the model* says (refusals, truncated, malformed and empty answers included) depends
on the request's content alone. So a rehearsal under trouble of the provider ends with the results
of a calm one, however its requests were ordered and however often they were repeated.
"""
