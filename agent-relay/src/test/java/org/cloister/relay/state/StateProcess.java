package org.cloister.relay.state;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.cloister.protocol.ticket.QuotaUsage;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketPosition;

/**
 * A process of its own that may be killed: takes batches of operations, one a line, and carries out each in one
 * transaction. The results go into the database with it, for whoever asks after a kill.
 */
final class StateProcess {
    static final String RESULTS = "results";

    private final Path file;
    private final AtomicLong nanos = new AtomicLong();
    private RelayDatabase state;

    private StateProcess(Path file, long seconds) throws RelayDatabaseException {
        this.file = file;
        nanos.set(seconds * 1_000_000_000L);
        this.state = StateSamples.open(file, RelayDatabaseModel.POOL, nanos);
    }

    /** FILE SECONDS: batches {@code NUMBER SECONDS OPERATION;OPERATION}, {@code dump}, {@code restart}, {@code results}. */
    public static void main(String[] args) throws IOException {
        StateProcess child = new StateProcess(Path.of(args[0]), Long.parseLong(args[1]));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(child.answer(line));
        }
    }

    private String answer(String line) throws RelayDatabaseException {
        return switch (line) {
            case "dump" -> String.join("|", state.transact(StateProcess::dump));
            case "results" -> state.transact(t -> t.marks().get(RESULTS)).orElse("0 ");
            case "restart" -> {
                state.close();
                state = StateSamples.open(file, RelayDatabaseModel.POOL, nanos);
                yield "ready";
            }
            default -> batch(line);
        };
    }

    private String batch(String line) throws RelayDatabaseException {
        String[] parts = line.split(" ", 3);
        nanos.set(Long.parseLong(parts[1]) * 1_000_000_000L);
        return state.transact(t -> {
            List<String> results = new ArrayList<>();
            for (String operation : parts[2].split(";", -1)) {
                results.add(carryOut(t, operation.split(" ", -1)));
            }
            String all = parts[0] + " " + String.join(";", results);
            t.marks().set(RESULTS, all);
            return all;
        });
    }

    private static String carryOut(RelayTransaction t, String[] words) throws RelayDatabaseException {
        return switch (words[0]) {
            case "accept" -> accept(t, words);
            case "queued" -> "" + t.tickets().recordQueued(words[1], 7);
            case "withdrawn" -> "" + t.tickets().recordWithdrawal(words[1]);
            case "end" -> {
                boolean ended = t.tickets().recordEnd(words[1], TicketEnd.COMPLETED, "", StateSamples.NOON);
                if (ended) {
                    t.outbox().add(("end " + words[1]).getBytes(StandardCharsets.UTF_8));
                }
                yield ended + " " + t.numbers().release(words[1]);
            }
            case "vlan" -> "" + t.numbers().releaseVlan(words[1]);
            case "forget" -> "" + t.tickets().forget(StateSamples.NOON.plusMillis(1), 3);
            case "audit" -> {
                List<AuditOutbox.Pending> some = t.outbox().pending(0, Integer.parseInt(words[1]));
                if (!some.isEmpty()) {
                    t.outbox().markWritten(some.get(some.size() - 1).id());
                }
                yield bodies(some);
            }
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private static String accept(RelayTransaction t, String[] words) throws RelayDatabaseException {
        TicketPosition sequence = new TicketPosition(Long.parseLong(words[3]), Long.parseLong(words[4]));
        int nodes = Integer.parseInt(words[5]);
        try {
            return t.<String, StateConflictException>attempt(part -> {
                part.tickets()
                        .insert(
                                StateSamples.request(words[1], words[2], sequence, nodes),
                                StateSamples.ENVELOPE,
                                StateSamples.CHAIN);
                part.outbox().add(("accept " + words[1]).getBytes(StandardCharsets.UTF_8));
                NetworkLease lease = part.numbers().allocate(words[1], words[2], nodes);
                return "ok " + lease.vlan() + " " + String.join(",", lease.addresses());
            });
        } catch (DuplicateTicketException e) {
            return "taken";
        } catch (TicketSequenceException e) {
            return "sequence";
        } catch (PoolExhaustedException e) {
            return "exhausted";
        } catch (StateConflictException e) {
            throw new IllegalStateException("no other refusal is there", e);
        }
    }

    private static String bodies(List<AuditOutbox.Pending> records) {
        return records.stream()
                .map(record -> new String(record.body(), StandardCharsets.UTF_8))
                .collect(Collectors.joining(","));
    }

    /** All that the database has, as {@link RelayDatabaseModel#dump} has it. */
    private static List<String> dump(RelayTransaction t) throws RelayDatabaseException {
        List<String> all = new ArrayList<>();
        List<TicketRow> rows = new ArrayList<>(t.tickets().open());
        rows.addAll(t.tickets().endedSince(StateSamples.NOON, Integer.MAX_VALUE));
        for (TicketRow row : rows) {
            String held = t.numbers()
                    .find(row.id())
                    .map(lease -> lease.vlan() + " " + String.join(",", lease.addresses()))
                    .orElse("nothing");
            all.add(row.id() + " " + row.state().toString() + " " + row.withdrawn() + " " + held);
        }
        for (String project : RelayDatabaseModel.PROJECTS) {
            QuotaUsage usage = t.tickets().usage(project);
            all.add(project + " " + t.numbers().vlanOf(project).orElse(0) + " " + usage.tickets() + " "
                    + usage.nodes() + " "
                    + t.tickets().highest(project).map(TicketPosition::toString).orElse("none"));
        }
        all.sort(null);
        all.add(bodies(t.outbox().pending(0, Integer.MAX_VALUE)));
        return all;
    }
}
