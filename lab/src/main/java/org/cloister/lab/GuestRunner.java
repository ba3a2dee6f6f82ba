package org.cloister.lab;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs commands in a guest through the runner that only the lab variant of the image has; {@code lab/guest} defines the
 * protocol. Many commands may be in progress at once. One reader thread, ended by {@link #close}.
 */
final class GuestRunner implements Closeable {
    private static final int MAX_LINE = 4096;
    private static final int MAX_PIECE = 1 << 20;
    private static final int MAX_OUTPUT = 64 << 20;
    private static final Duration SYNC_PAUSE = Duration.ofMillis(200);
    /** The guest ends a command in time; after this extra time the guest itself hangs. */
    private static final Duration GRACE = Duration.ofSeconds(20);

    private final SocketChannel channel;
    private final InputStream in;
    private final String token =
            HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    private final CompletableFuture<String> synced = new CompletableFuture<>();
    private final Map<Integer, RunningCommand> running = new ConcurrentHashMap<>();
    private final AtomicInteger nextId = new AtomicInteger(1);

    private GuestRunner(SocketChannel channel) {
        this.channel = channel;
        this.in = new BufferedInputStream(Channels.newInputStream(channel), 1 << 16);
    }

    /** Connects to the port's socket and waits until the guest's runner answers, at most {@code limit}. */
    static GuestRunner connect(Path socket, Duration limit, Poll.Question alive) throws IOException {
        GuestRunner runner = new GuestRunner(SocketChannel.open(UnixDomainSocketAddress.of(socket)));
        Thread reader = new Thread(runner::readAll, "runner " + socket.getFileName());
        reader.setDaemon(true);
        reader.start();
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            runner.send(("\nsync " + runner.token + "\n").getBytes(StandardCharsets.US_ASCII));
            try {
                runner.synced.get(SYNC_PAUSE.toMillis(), TimeUnit.MILLISECONDS);
                return runner;
            } catch (TimeoutException e) {
                if (!alive.answer() || System.nanoTime() > deadline) {
                    runner.close();
                    throw new LabException(
                            "guest: no answer from its runner within " + limit.toSeconds() + " s",
                            "read its console",
                            e);
                }
            } catch (ExecutionException e) {
                runner.close();
                throw new LabException("guest: went away before its runner answered", "read its console", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new LabException("interrupted while waiting for a guest", "start again", e);
            }
        }
    }

    LabCommand.Output run(List<String> argv, byte[] input, Duration limit) throws IOException {
        int id = nextId.getAndIncrement();
        RunningCommand command = new RunningCommand();
        running.put(id, command);
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        line(request, "run " + id + " " + limit.toSeconds() + " " + argv.size() + " " + input.length);
        for (String argument : argv) {
            byte[] bytes = argument.getBytes(StandardCharsets.UTF_8);
            line(request, Integer.toString(bytes.length));
            request.write(bytes);
        }
        request.write(input);
        send(request.toByteArray());
        try {
            return command.ended.get(limit.plus(GRACE).toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new LabException(
                    "guest: no end of " + argv + " within " + limit.toSeconds() + " s", "read its console", e);
        } catch (ExecutionException e) {
            throw new LabException("guest: went away while it ran " + argv, "read its console", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted while a guest ran " + argv, "start again", e);
        } finally {
            running.remove(id);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private void send(byte[] bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        synchronized (channel) {
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }
    }

    private void readAll() {
        IOException end = new EOFException("closed");
        try {
            while (true) {
                read(line().split(" ", -1));
            }
        } catch (IOException e) {
            end = e;
        }
        synced.completeExceptionally(end);
        for (RunningCommand command : running.values()) {
            command.ended.completeExceptionally(end);
        }
    }

    private void read(String[] words) throws IOException {
        if (!synced.isDone()) {
            // Lines before our own token belong to an earlier session.
            if (words.length == 3 && words[0].equals("synced") && words[1].equals(token)) {
                synced.complete(words[2]);
            }
            return;
        }
        switch (words[0]) {
            case "out", "err" -> {
                byte[] piece = piece(Integer.parseInt(words[2]));
                RunningCommand command = running.get(Integer.parseInt(words[1]));
                if (command != null) {
                    command.append(words[0].equals("out") ? command.out : command.err, piece);
                }
            }
            case "exit" -> {
                RunningCommand command = running.get(Integer.parseInt(words[1]));
                if (command != null) {
                    command.finish(Integer.parseInt(words[2]));
                }
            }
            case "synced", "" -> {
                // The answer to a sync that was sent again.
            }
            default -> throw new IOException("guest runner said \"" + String.join(" ", words) + "\"");
        }
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("the port's socket was closed");
            }
            // Before the mark any data may arrive, of any length.
            if (line.size() < MAX_LINE) {
                line.write(b);
            } else if (synced.isDone()) {
                throw new IOException("guest runner: a line of more than " + MAX_LINE + " bytes");
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }

    private byte[] piece(int length) throws IOException {
        if (length < 0 || length > MAX_PIECE) {
            throw new IOException("guest runner: a piece of " + length + " bytes, want 0 to " + MAX_PIECE);
        }
        byte[] piece = in.readNBytes(length);
        if (piece.length < length) {
            throw new EOFException("the port's socket was closed");
        }
        return piece;
    }

    private static void line(ByteArrayOutputStream to, String text) {
        to.writeBytes((text + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    /** A command in progress; filled by the reader thread alone. */
    private static final class RunningCommand {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final ByteArrayOutputStream err = new ByteArrayOutputStream();
        final CompletableFuture<LabCommand.Output> ended = new CompletableFuture<>();

        void append(ByteArrayOutputStream to, byte[] piece) {
            if (to.size() + piece.length > MAX_OUTPUT) {
                ended.completeExceptionally(new IOException("output of more than " + MAX_OUTPUT + " bytes"));
            } else {
                to.writeBytes(piece);
            }
        }

        void finish(int exit) {
            ended.complete(new LabCommand.Output(
                    exit, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8)));
        }
    }
}
