package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.cloister.base.address.Ipv4Network;
import org.cloister.protocol.ticket.TicketPosition;
import org.cloister.protocol.ticket.TicketState;
import org.jspecify.annotations.Nullable;

/** Model of the database's content after the operations so far, kept in maps, with the condition of each result. */
final class RelayDatabaseModel {
    static final NetworkPool POOL =
            new NetworkPool(Ipv4Network.parse("10.64.0.0/16"), 28, 100, 119, Set.of(110), Duration.ofSeconds(60));
    static final List<String> PROJECTS =
            IntStream.range(0, 30).mapToObj(i -> "project" + i).toList();

    static final int USABLE = 19;

    /** A number's last holder gave it back; never held: both 0. */
    private record ReleasedNumber(long until, long trulySince) {}

    private static final class Ticket {
        private final String project;
        private final int nodes;
        private TicketState state = TicketState.ACCEPTED;
        private boolean withdrawn;
        private List<String> addresses = List.of();

        private Ticket(String project, int nodes) {
            this.project = project;
            this.nodes = nodes;
        }
    }

    private final Map<String, Ticket> tickets = new TreeMap<>();
    private final Map<String, TicketPosition> highest = new HashMap<>();
    private final Map<String, Integer> vlans = new HashMap<>();
    private final Map<Integer, ReleasedNumber> releasedVlans = new HashMap<>();
    private final Map<String, String> holders = new HashMap<>();
    private final Map<String, ReleasedNumber> releasedAddresses = new HashMap<>();
    private final Deque<String> outbox = new ArrayDeque<>();
    private long stored;
    private long base;
    private long openedAt;

    /** The relay was opened again when its clock said {@code now}: what it had not stored is lost. */
    void opened(long now) {
        base = stored;
        openedAt = now;
    }

    List<String> tickets(TicketState state) {
        return tickets.entrySet().stream()
                .filter(entry -> entry.getValue().state == state)
                .map(Map.Entry::getKey)
                .toList();
    }

    TicketPosition highest(String project) {
        return highest.getOrDefault(project, new TicketPosition(1, 0));
    }

    /** @param now seconds that relays have truly run */
    void apply(String operation, String result, long now) {
        String[] words = operation.split(" ", -1);
        switch (words[0]) {
            case "accept" -> accept(words, result, now);
            case "queued" -> {
                Ticket ticket = tickets.get(words[1]);
                boolean can = ticket != null && ticket.state == TicketState.ACCEPTED;
                assertThat(result).isEqualTo("" + can);
                if (ticket != null && can) {
                    ticket.state = TicketState.QUEUED;
                }
            }
            case "withdrawn" -> {
                Ticket ticket = tickets.get(words[1]);
                boolean can = ticket != null && ticket.state != TicketState.ENDED && !ticket.withdrawn;
                assertThat(result).isEqualTo("" + can);
                if (ticket != null && can) {
                    ticket.withdrawn = true;
                }
            }
            case "end" -> end(words[1], result, now);
            case "vlan" -> releaseVlan(words[1], result, now);
            case "forget" -> forget(Integer.parseInt(result));
            case "audit" -> {
                for (String body : result.isEmpty() ? new String[0] : result.split(",", -1)) {
                    assertThat(body).isEqualTo(outbox.poll());
                }
            }
            default -> throw new IllegalArgumentException(operation);
        }
    }

    private void accept(String[] words, String result, long now) {
        String id = words[1];
        String project = words[2];
        TicketPosition sequence = new TicketPosition(Long.parseLong(words[3]), Long.parseLong(words[4]));
        int nodes = Integer.parseInt(words[5]);
        TicketPosition before = highest(project);
        boolean later = sequence.compareTo(before) > 0;
        if (tickets.containsKey(id)) {
            assertThat(result).isEqualTo("taken");
        } else if (!later) {
            assertThat(result).isEqualTo("sequence");
        } else if (free(project, now) < nodes) {
            assertThat(result).isEqualTo("exhausted");
        } else {
            String[] lease = result.split(" ", -1);
            assertThat(lease[0]).as("%s of %s", id, project).isEqualTo("ok");
            int vlan = Integer.parseInt(lease[1]);
            allocateVlan(project, vlan, now);
            Ticket ticket = new Ticket(project, nodes);
            ticket.addresses = List.of(lease[2].split(",", -1));
            assertThat(ticket.addresses).hasSize(nodes).doesNotHaveDuplicates();
            ticket.addresses.forEach(address -> allocateAddress(id, vlan, address, now));
            tickets.put(id, ticket);
            highest.put(project, sequence);
            outbox.add("accept " + id);
        }
    }

    private void allocateVlan(String project, int vlan, long now) {
        if (vlans.containsKey(project)) {
            assertThat(vlan).isEqualTo(vlans.get(project));
            return;
        }
        assertThat(POOL.has(vlan)).isTrue();
        assertThat(vlans).doesNotContainValue(vlan);
        requireRested(releasedVlans.remove(vlan), now);
        vlans.put(project, vlan);
    }

    private void allocateAddress(String id, int vlan, String address, long now) {
        assertThat(workers(vlan)).contains(address);
        assertThat(holders).doesNotContainKey(address);
        requireRested(releasedAddresses.get(address), now);
        holders.put(address, id);
    }

    private void requireRested(@Nullable ReleasedNumber rest, long now) {
        if (rest != null) {
            assertThat(now - rest.trulySince)
                    .isGreaterThanOrEqualTo(POOL.reuseDelay().toSeconds());
            assertThat(rest.until).isLessThanOrEqualTo(seconds(now));
        }
    }

    private static List<String> workers(int vlan) {
        return IntStream.rangeClosed(NetworkPool.FIRST_HOST, POOL.lastHost())
                .mapToObj(POOL.network(vlan)::address)
                .toList();
    }

    private long free(String project, long now) {
        Integer vlan = vlans.get(project);
        if (vlan != null) {
            return workers(vlan).stream()
                    .filter(address -> !holders.containsKey(address) && rested(releasedAddresses.get(address), now))
                    .count();
        }
        long resting = releasedVlans.values().stream()
                .filter(rest -> !rested(rest, now))
                .count();
        return vlans.size() + resting < USABLE ? POOL.hosts() : 0;
    }

    private boolean rested(@Nullable ReleasedNumber rest, long now) {
        return rest == null || rest.until <= seconds(now);
    }

    private void end(String id, String result, long now) {
        Ticket ticket = tickets.get(id);
        int nodes = ticket == null || ticket.state == TicketState.ENDED ? 0 : ticket.nodes;
        assertThat(result).isEqualTo((nodes > 0) + " " + nodes);
        stored = seconds(now);
        if (ticket != null && nodes > 0) {
            ticket.state = TicketState.ENDED;
            for (String address : ticket.addresses) {
                holders.remove(address);
                releasedAddresses.put(address, rest(now));
            }
            ticket.addresses = List.of();
            outbox.add("end " + id);
        }
    }

    private void releaseVlan(String project, String result, long now) {
        boolean held = tickets.values().stream()
                .anyMatch(ticket -> ticket.project.equals(project) && ticket.state != TicketState.ENDED);
        boolean can = vlans.containsKey(project) && !held;
        assertThat(result).isEqualTo("" + can);
        stored = seconds(now);
        if (can) {
            releasedVlans.put(vlans.remove(project), rest(now));
        }
    }

    /** All end at the same time here, and then the id decides. */
    private void forget(int count) {
        List<String> ended = tickets(TicketState.ENDED);
        assertThat(count).isEqualTo(Math.min(3, ended.size()));
        ended.stream().limit(count).forEach(tickets::remove);
    }

    private ReleasedNumber rest(long now) {
        return new ReleasedNumber(seconds(now) + POOL.reuseDelay().toSeconds() + 1, now);
    }

    private long seconds(long now) {
        return base + now - openedAt;
    }

    /** As {@link StateProcess} has it. */
    List<String> dump() {
        List<String> all = new ArrayList<>();
        tickets.forEach((id, ticket) -> all.add(id + " " + ticket.state.toString() + " " + ticket.withdrawn + " "
                + (ticket.addresses.isEmpty()
                        ? "nothing"
                        : vlans.get(ticket.project) + " " + String.join(",", ticket.addresses))));
        for (String project : PROJECTS) {
            List<Ticket> open = tickets.values().stream()
                    .filter(ticket -> ticket.project.equals(project) && ticket.state != TicketState.ENDED)
                    .toList();
            all.add(project + " " + vlans.getOrDefault(project, 0) + " " + open.size() + " "
                    + open.stream().mapToInt(ticket -> ticket.nodes).sum() + " "
                    + (highest.containsKey(project) ? highest(project) : "none"));
        }
        all.sort(null);
        all.add(String.join(",", outbox));
        return all;
    }
}
