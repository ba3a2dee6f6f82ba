package org.cloister.transport.channel;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.cloister.transport.channel.PortFault.From;
import org.cloister.transport.channel.PortFault.Kind;
import org.cloister.transport.channel.PortFault.Position;

/**
 * Forwards the bytes of a port's pipe: names its frames until one {@link PortFault} happens, and passes bytes from then
 * on.
 */
public final class PortWire {
    /** Of silence, after which both sides have said what they can. */
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(300);

    private final Optional<PortFault> fault;
    private final List<Position> places = new CopyOnWriteArrayList<>();
    private final AtomicBoolean happened = new AtomicBoolean();
    private final boolean plain;
    private final AtomicLong movedNs = new AtomicLong(System.nanoTime());
    private final Direction fromVm = new Direction(From.VM);
    private final Direction fromHost = new Direction(From.HOST);
    private volatile Consumer<Kind> end = kind -> {};

    /** Output of the forwarded bytes. */
    @FunctionalInterface
    interface Out {
        void write(byte[] bytes) throws IOException, InterruptedException;
    }

    private PortWire(Optional<PortFault> fault, boolean plain) {
        this.fault = fault;
        this.plain = plain;
    }

    /** @param fault empty for one that names all frames */
    public PortWire(Optional<PortFault> fault) {
        this(fault, false);
    }

    /** Passes bytes whatever they are, as floods and remains of sessions. */
    public static PortWire plain() {
        return new PortWire(Optional.empty(), true);
    }

    /** What the fault does besides: ends a side and starts it again, or closes the connection. It may block. */
    public void endBy(Consumer<Kind> ends) {
        end = ends;
    }

    /** Of all frames so far, in the order of their coming. */
    public List<Position> places() {
        return List.copyOf(places);
    }

    /** Whether the fault's frame came. */
    public boolean happened() {
        return happened.get();
    }

    /** On one thread a direction. */
    void pass(From from, byte[] bytes, Out out) throws IOException, InterruptedException {
        if (plain) {
            out.write(bytes);
        } else {
            (from == From.VM ? fromVm : fromHost).pass(bytes, out);
        }
    }

    private void watch() {
        Thread thread = new Thread(
                () -> {
                    try {
                        long leftNs = QUIET_NS;
                        while (leftNs > 0) {
                            TimeUnit.NANOSECONDS.sleep(leftNs);
                            leftNs = QUIET_NS - (System.nanoTime() - movedNs.get());
                        }
                        end.accept(Kind.HUNG_UP);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "quiet");
        thread.setDaemon(true);
        thread.start();
    }

    private final class Direction {
        private final From from;
        private final PortFrames frames = new PortFrames();
        private final Map<String, Integer> counts = new HashMap<>();

        Direction(From from) {
            this.from = from;
        }

        void pass(byte[] bytes, Out out) throws IOException, InterruptedException {
            movedNs.set(System.nanoTime());
            frames.add(bytes);
            while (!happened.get()) {
                Optional<PortFrames.Frame> frame = frames.next();
                if (frame.isEmpty()) {
                    return;
                }
                Position position = new Position(
                        from, frame.get().name(), counts.merge(frame.get().name(), 1, Integer::sum) - 1);
                places.add(position);
                if (fault.isPresent()
                        && fault.get().position().equals(position)
                        && happened.compareAndSet(false, true)) {
                    happen(fault.get().kind());
                } else {
                    out.write(frame.get().bytes().toByteArray());
                }
            }
            byte[] rest = frames.rest();
            if (rest.length > 0) {
                out.write(rest);
            }
        }

        private void happen(Kind kind) {
            if (kind == Kind.HUNG_UP) {
                watch();
            } else if (kind != Kind.LOST) {
                end.accept(kind);
            }
        }
    }
}
