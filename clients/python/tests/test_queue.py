"""The throttle and the merging of reports, on a clock of the tests' own."""

from concurrent.futures import Future

import pytest

from signalbox_client._queue import Pace, ReportQueue


def make_queue(starts_running=False):
    return ReportQueue(lambda report: None, starts_running, Pace())


def sent(queue, now):
    """Sends what is due at the time, and returns it."""
    if queue.due_at() > now:
        return None
    report = queue.take(now).report
    queue.accept()
    return report


def test_small_progress_waits_five_seconds_and_a_message_one():
    one, other = make_queue(), make_queue()
    for queue in (one, other):
        queue.append({"status": "running", "progress": 0}, False, None)
        sent(queue, 100.0)

    for i in range(1, 5):
        one.append({"progress": i, "message": f"item {i}"}, False, None)
    for i in range(100):
        other.append({"message": f"message {i}"}, False, None)

    assert sent(one, 104.9) is None
    assert sent(one, 105.0) == {"progress": 4, "message": "item 4"}
    assert sent(other, 100.9) is None
    assert sent(other, 101.0) == {"message": "message 99"}


def test_five_points_wait_a_tenth_of_a_second():
    queue = make_queue()
    queue.append({"status": "running", "progress": 0}, False, None)
    sent(queue, 100.0)

    queue.append({"progress": 5}, False, None)

    assert sent(queue, 100.05) is None
    assert sent(queue, 100.1) == {"progress": 5}


def test_an_unchanged_report_is_not_sent_again():
    queue = make_queue()
    queue.append({"progress": 50, "message": "half"}, False, None)
    sent(queue, 100.0)

    queue.append({"progress": 50}, False, None)
    queue.append({"message": "half"}, False, None)

    assert queue.is_idle


def test_the_first_report_of_a_step_has_the_status_running():
    queue = make_queue(starts_running=True)

    queue.append({"progress": 50}, False, None)

    assert sent(queue, 100.0) == {"status": "running", "progress": 50}


def test_reports_behind_one_in_flight_become_one_and_no_status_is_skipped():
    queue = make_queue()
    queue.append({"status": "running"}, False, None)
    queue.take(100.0)

    for i in range(1000):
        queue.append({"progress": i % 50, "message": f"{i}"}, False, None)
    queue.append({"status": "completed", "progress": 100}, True, None)
    queue.append({"progress": 70}, False, None)
    queue.append({"status": "failed", "message": "no"}, True, None)
    queue.append({"status": "running", "progress": 0}, False, None)
    queue.append({"progress": 10}, False, None)
    queue.accept()

    assert [sent(queue, 100.0) for _ in range(4)] == [
        {"progress": 100, "message": "999", "status": "completed"},
        {"status": "failed", "message": "no"},
        {"status": "running", "progress": 10},
        None,
    ]


def test_a_retry_includes_later_reports_but_skips_no_status():
    queue = make_queue()
    queue.append({"progress": 10, "message": "a"}, False, None)
    queue.take(100.0)
    queue.append({"progress": 20}, False, None)
    queue.retry(101.0)
    queue.append({"status": "completed"}, True, None)

    assert queue.due_at() == 101.0
    assert sent(queue, 101.0) == {"progress": 20, "message": "a", "status": "completed"}

    queue.append({"status": "failed"}, True, None)
    queue.take(102.0)
    queue.append({"status": "completed"}, True, None)
    queue.retry(103.0)

    assert [sent(queue, 103.0), sent(queue, 103.0)] == [{"status": "failed"}, {"status": "completed"}]


def test_a_report_with_a_waiter_does_not_inherit_the_clock_of_the_report_that_it_joins():
    queue = make_queue()
    queue.append({"progress": 10}, False, None)
    queue.take(100.0)
    queue.retry(101.0)
    queue.append({"status": "completed"}, True, Future())

    assert queue.take(120.0).sent_at == 120.0

    in_flight = make_queue()
    in_flight.append({"progress": 10}, False, None)
    in_flight.take(100.0)
    in_flight.append({"status": "completed"}, True, Future())
    in_flight.retry(101.0)

    assert in_flight.take(120.0).sent_at == 120.0


def test_a_flush_does_not_inherit_the_clock_of_the_report_that_it_waits_for():
    queued, in_flight = make_queue(), make_queue()
    for queue in (queued, in_flight):
        queue.append({"progress": 10}, False, None)
        queue.take(100.0)
    queued.retry(101.0)
    queued.append({}, False, Future())
    in_flight.append({"progress": 10}, False, Future())
    in_flight.retry(101.0)

    assert [queue.take(120.0).sent_at for queue in (queued, in_flight)] == [120.0, 120.0]


def test_a_report_without_a_waiter_keeps_the_clock_of_the_report_that_it_joins():
    queue = make_queue()
    queue.append({"progress": 10}, False, None)
    queue.take(100.0)
    queue.append({"progress": 20}, False, None)
    queue.retry(101.0)

    assert queue.take(120.0).sent_at == 100.0


def test_an_end_does_not_replace_an_unsent_start():
    queue = make_queue()

    queue.append({"status": "running", "progress": 0}, False, None)
    queue.append({"status": "failed"}, True, None)

    assert [sent(queue, 0.0), sent(queue, 0.0)] == [{"status": "running", "progress": 0}, {"status": "failed"}]


def test_waiters_are_resolved_with_the_report_that_contains_theirs():
    queue = make_queue()
    first, flush, end = Future(), Future(), Future()
    queue.append({"progress": 10}, False, first)
    queue.append({}, False, flush)
    queue.append({"status": "completed"}, True, end)

    sent(queue, 0.0)

    assert [one.result(0) for one in (first, flush, end)] == [None] * 3


def test_a_cancelled_waiter_hurries_nothing_and_its_report_is_still_sent():
    queue = make_queue()
    queue.append({"progress": 10}, False, None)
    sent(queue, 100.0)
    waiter = Future()
    queue.append({"progress": 11}, False, waiter)
    assert queue.due_at() == 0.0

    waiter.cancel()

    assert queue.due_at() == 105.0
    assert sent(queue, 105.0) == {"progress": 11}


def test_a_rejection_reaches_the_waiters_and_otherwise_the_next_flush():
    queue, error, waiter = make_queue(starts_running=True), ValueError(), Future()
    queue.append({"progress": 10}, False, waiter)
    queue.take(100.0)
    assert queue.reject(error) is False
    queue.append({"progress": 10}, False, None)
    queue.take(101.0)
    assert queue.reject(error) is True

    with pytest.raises(ValueError):
        waiter.result(0)
    assert queue.rejection is error
    queue.append({"progress": 10}, False, None)
    assert sent(queue, 102.0) == {"status": "running", "progress": 10}
    assert queue.rejection is None
