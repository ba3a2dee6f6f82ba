package org.cloister.ipsec.vici;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.cloister.ipsec.vici.IpsecException.Disconnected;
import org.cloister.ipsec.vici.IpsecException.Malformed;
import org.cloister.ipsec.vici.IpsecException.Refused;
import org.cloister.ipsec.vici.IpsecException.TimedOut;
import org.jspecify.annotations.Nullable;

/** Sends the commands of one connection one after the other. Only on the event loop. */
final class ViciCommandQueue {
    /** Maximum number of pieces of one answer: about 2 KB for each SA. */
    private static final int MAX_PIECES = 20_000;
    /** Maximum number of queued commands. A project's tunnels are loaded together, with four commands each. */
    private static final int MAX_WAITING = 20_000;

    private final EventLoop loop;
    private final Sender sender;
    private final Consumer<IpsecException> drop;
    private final Deque<Command> pending = new ArrayDeque<>();
    private boolean open;
    private @Nullable Command active;
    private @Nullable ScheduledFuture<?> timer;
    private List<ViciMessage> pieces = new ArrayList<>();

    /** Writes a packet to the socket and releases it; zeroes it first if it contains a secret. */
    interface Sender {
        void send(ByteBuf packet, boolean secret);
    }

    /**
     * A command or registration.
     *
     * @param packet creates the packet when it is sent, so that no copy of a secret waits in the queue
     */
    record Command(
            String name,
            Supplier<ByteBuf> packet,
            boolean secret,
            boolean registers,
            Duration limit,
            CompletableFuture<ViciReply> done) {
        static Command of(String name, ViciMessage request, Duration limit, CompletableFuture<ViciReply> done) {
            return new Command(name, () -> ViciPacket.request(name, request), false, false, limit, done);
        }

        static Command ofKey(PrivateKeySource key, Duration limit, CompletableFuture<ViciReply> done) {
            return new Command("load-key", () -> PrivateKeySource.loadKey(key), true, false, limit, done);
        }

        static Command registration(String event, Duration limit) {
            return new Command(event, () -> ViciPacket.register(event), false, true, limit, new CompletableFuture<>());
        }
    }

    ViciCommandQueue(EventLoop loop, Sender sender, Consumer<IpsecException> drop) {
        this.loop = loop;
        this.sender = sender;
        this.drop = drop;
    }

    void open() {
        open = true;
    }

    void add(Command command) {
        if (!open) {
            command.done.completeExceptionally(new Disconnected(command.name, "none"));
        } else if (pending.size() == MAX_WAITING) {
            command.done.completeExceptionally(
                    new TimedOut(command.name, MAX_WAITING + " commands before it", "look for what keeps charon busy"));
        } else {
            pending.add(command);
            next();
        }
    }

    /** Fails all commands that have no answer yet. */
    void close(IpsecException why) {
        open = false;
        List<Command> lost = new ArrayList<>(pending);
        pending.clear();
        if (active != null) {
            lost.add(0, active);
        }
        finish();
        for (Command each : lost) {
            each.done.completeExceptionally(
                    why instanceof TimedOut ? why : new Disconnected(each.name, String.valueOf(why.getMessage())));
        }
    }

    void onPacket(ViciPacket packet) throws Malformed {
        Command command = active;
        if (command == null) {
            throw new Malformed(
                    "vici packet",
                    "none while no command runs",
                    packet.getClass().getSimpleName());
        }
        if (packet instanceof ViciPacket.Event event) {
            if (pieces.size() == MAX_PIECES) {
                throw new Malformed(command.name, "at most " + MAX_PIECES + " pieces", "more");
            }
            pieces.add(event.message());
        } else if (packet instanceof ViciPacket.Response response && !command.registers) {
            ViciReply reply = new ViciReply(response.message(), pieces);
            finish();
            command.done.complete(reply);
        } else if (packet instanceof ViciPacket.UnknownCommand && !command.registers) {
            finish();
            command.done.completeExceptionally(new Refused(command.name, "no such command in this charon"));
        } else if ((packet instanceof ViciPacket.Confirmed || packet instanceof ViciPacket.UnknownEvent)
                && command.registers) {
            finish();
            command.done.complete(new ViciReply(ViciMessage.empty(), List.of()));
        } else {
            throw new Malformed(
                    "answer to " + command.name,
                    "a " + (command.registers ? "confirmation" : "response"),
                    packet.getClass().getSimpleName());
        }
        next();
    }

    private void next() {
        if (active == null && !pending.isEmpty()) {
            Command command = pending.remove();
            active = command;
            timer = loop.schedule(
                    () -> drop.accept(new TimedOut(
                            command.name,
                            "none within " + command.limit.toMillis() + " ms",
                            "see with swanctl --stats what keeps charon busy")),
                    command.limit.toMillis(),
                    TimeUnit.MILLISECONDS);
            try {
                sender.send(command.packet.get(), command.secret);
            } catch (RuntimeException e) {
                // Nothing was sent: the request cannot be encoded, or the caller's key source failed. The next command
                // must not wait.
                finish();
                command.done.completeExceptionally(e);
                next();
            }
        }
    }

    private void finish() {
        active = null;
        pieces = new ArrayList<>();
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }
}
