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
import org.cloister.protocol.ticket.TicketEnd;

/**
 * A process of its own that may be killed: takes batches of operations, one a line, and carries out each in one
 * transaction. The results go into the database with it, for whoever asks after a kill.
 */
final class StateChild {
    static final String RESULTS = "results";

    private final Path file;
    private final AtomicLong nanos = new AtomicLong();
    private State state;

    private StateChild(Path file, long seconds) throws StateException {
        this.file = file;
        nanos.set(seconds * 1_000_000_000L);
        this.state = Samples.open(file, StateModel.POOL, nanos);
    }

    /** FILE SECONDS: batches {@code NUMBER SECONDS OPERATION;OPERATION}, {@code dump}, {@code restart}, {@code results}. */
    public static void main(String[] args) throws IOException {
        StateChild child = new StateChild(Path.of(args[0]), Long.parseLong(args[1]));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(child.answer(line));
        }
    }

    private String answer(String line) throws StateException {
        return switch (line) {
            case "dump" -> String.join("|", state.transact(StateChild::dump));
            case "results" -> state.transact(t -> t.marks().get(RESULTS)).orElse("0 ");
            case "restart" -> {
                state.close();
                state = Samples.open(file, StateModel.POOL, nanos);
                yield "ready";
            }
            default -> batch(line);
        };
    }

    private String batch(String line) throws StateException {
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

    private static String carryOut(Transaction t, String[] words) throws StateException {
        return switch (words[0]) {
            case "accept" -> accept(t, words);
            case "queued" -> "" + t.tickets().queued(words[1], 7);
            case "withdrawn" -> "" + t.tickets().withdrawn(words[1]);
            case "end" -> {
                boolean ended = t.tickets().ended(words[1], TicketEnd.COMPLETED, "", Samples.NOON);
                if (ended) {
                    t.outbox().add(("end " + words[1]).getBytes(StandardCharsets.UTF_8));
                }
                yield ended + " " + t.numbers().release(words[1]);
            }
            case "vlan" -> "" + t.numbers().releaseVlan(words[1]);
            case "forget" -> "" + t.tickets().forget(Samples.NOON.plusMillis(1), 3);
            case "audit" -> {
                List<Outbox.Pending> some = t.outbox().pending(0, Integer.parseInt(words[1]));
                if (!some.isEmpty()) {
                    t.outbox().done(some.get(some.size() - 1).id());
                }
                yield bodies(some);
            }
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private static String accept(Transaction t, String[] words) throws StateException {
        Sequence sequence = new Sequence(Long.parseLong(words[3]), Long.parseLong(words[4]));
        int nodes = Integer.parseInt(words[5]);
        try {
            return t.<String, Refusal>attempt(part -> {
                part.tickets()
                        .insert(Samples.request(words[1], words[2], sequence, nodes), Samples.ENVELOPE, Samples.CHAIN);
                part.outbox().add(("accept " + words[1]).getBytes(StandardCharsets.UTF_8));
                Lease lease = part.numbers().take(words[1], words[2], nodes);
                return "ok " + lease.vlan() + " " + String.join(",", lease.addresses());
            });
        } catch (TakenException e) {
            return "taken";
        } catch (SequenceException e) {
            return "sequence";
        } catch (ExhaustedException e) {
            return "exhausted";
        } catch (Refusal e) {
            throw new IllegalStateException("no other refusal is there", e);
        }
    }

    private static String bodies(List<Outbox.Pending> records) {
        return records.stream()
                .map(record -> new String(record.body(), StandardCharsets.UTF_8))
                .collect(Collectors.joining(","));
    }

    /** All that the database has, as {@link StateModel#dump} has it. */
    private static List<String> dump(Transaction t) throws StateException {
        List<String> all = new ArrayList<>();
        List<TicketRow> rows = new ArrayList<>(t.tickets().open());
        rows.addAll(t.tickets().endedSince(Samples.NOON, Integer.MAX_VALUE));
        for (TicketRow row : rows) {
            String held = t.numbers()
                    .held(row.id())
                    .map(lease -> lease.vlan() + " " + String.join(",", lease.addresses()))
                    .orElse("nothing");
            all.add(row.id() + " " + row.state().toString() + " " + row.withdrawn() + " " + held);
        }
        for (String project : StateModel.PROJECTS) {
            Usage usage = t.tickets().usage(project);
            all.add(project + " " + t.numbers().vlanOf(project).orElse(0) + " " + usage.tickets() + " "
                    + usage.nodes() + " "
                    + t.tickets().highest(project).map(Sequence::toString).orElse("none"));
        }
        all.sort(null);
        all.add(bodies(t.outbox().pending(0, Integer.MAX_VALUE)));
        return all;
    }
}
