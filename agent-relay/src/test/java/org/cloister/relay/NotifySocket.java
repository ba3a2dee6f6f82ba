package org.cloister.relay;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Socket on which systemd listens (sd_notify(3)). The JDK has no datagrams on Unix sockets, so perl receives them. */
public final class NotifySocket implements AutoCloseable {
    private static final String RECEIVE = """
            use Socket; $| = 1;
            socket(S, AF_UNIX, SOCK_DGRAM, 0) && bind(S, pack_sockaddr_un($ARGV[0])) or die "bind $ARGV[0]: $!";
            print "listening\\n";
            while (defined recv(S, $message, 4096, 0)) { print "$message\\n" }
            """;

    public final Path path;
    private final Process receiver;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    public NotifySocket(Path path) throws IOException, InterruptedException {
        this.path = path;
        receiver = new ProcessBuilder("perl", "-e", RECEIVE, path.toString())
                .redirectErrorStream(true)
                .start();
        Thread reader = new Thread(this::read, "notify");
        reader.setDaemon(true);
        reader.start();
        await("listening");
    }

    private void read() {
        try (BufferedReader in = receiver.inputReader(StandardCharsets.UTF_8)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add(e.toString());
        }
    }

    /** Waits for this line of a message; fails with what came instead. */
    public void await(String expected) throws InterruptedException {
        StringBuilder others = new StringBuilder();
        while (true) {
            String line = lines.poll(40, TimeUnit.SECONDS);
            if (line == null) {
                throw new AssertionError(expected + ": not said; said: " + others);
            }
            if (line.equals(expected)) {
                return;
            }
            others.append(line).append('|');
        }
    }

    /** What was said and not awaited. */
    public BlockingQueue<String> rest() {
        return lines;
    }

    @Override
    public void close() {
        receiver.destroyForcibly();
    }
}
