package org.cloister.vm.controller.admission;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.cloister.protocol.identity.CertificateName;

/**
 * Requests of workers for the munge key of a reopened controlling VM, which are granted to all of a ticket's workers
 * together. A node with the new key refuses those with the old one: if a task ends there meanwhile, the job's srun does
 * not learn of it and hangs, whereas a difference of a second is survived. Time is an argument. Not thread-safe.
 *
 * @param <R> a request
 */
final class JointReadmission<R> {
    /**
     * Time for which a ticket's first request waits for the others: a worker without a circuit tries to open one each
     * 30 s at least, and the circuit then has 15 s.
     */
    static final Duration LIMIT = Duration.ofSeconds(45);

    private final Map<String, Group> groups = new HashMap<>();

    private final class Group {
        final Instant since;
        final Map<CertificateName, R> requests = new LinkedHashMap<>();

        Group(Instant since) {
            this.since = since;
        }

        boolean isOver(Instant now) {
            // A clock that was set back ends the wait, which has no other bound then.
            return now.isBefore(since) || !now.isBefore(since.plus(LIMIT));
        }
    }

    /** Adds a request; it replaces an earlier one of the worker. A ticket is waited for once. */
    void add(String ticket, CertificateName worker, R request, Instant now) {
        groups.computeIfAbsent(ticket, first -> new Group(now)).requests.put(worker, request);
    }

    /**
     * Removes the requests of a ticket that are to be granted now: all or none.
     *
     * @param missing the ticket's workers that do not have the key
     * @param open whether a request can still be answered; others do not count
     */
    List<R> poll(String ticket, Set<CertificateName> missing, Predicate<R> open, Instant now) {
        Group group = groups.get(ticket);
        if (group == null) {
            return List.of();
        }
        group.requests.values().removeIf(open.negate());
        if (!group.isOver(now) && !group.requests.keySet().containsAll(missing)) {
            return List.of();
        }
        List<R> granted = List.copyOf(group.requests.values());
        group.requests.clear();
        return granted;
    }

    /** Returns the tickets with requests that wait. */
    List<String> waiting() {
        return groups.entrySet().stream()
                .filter(group -> !group.getValue().requests.isEmpty())
                .map(Map.Entry::getKey)
                .toList();
    }

    void forget(String ticket) {
        groups.remove(ticket);
    }
}
