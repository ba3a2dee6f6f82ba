package org.cloister.relay.links;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The relay as its unit starts it: a process with a configuration's file, and its words in a file. */
public final class RelayServerProcess implements AutoCloseable {
    /** For what happens at once, and takes long on a busy machine. */
    static final int WAIT_S = 40;

    private final Process process;
    private final Path words;

    private RelayServerProcess(Process process, Path words) {
        this.process = process;
        this.words = words;
    }

    /** @param output a file for what it says */
    static RelayServerProcess start(Path output, Map<String, String> environment, List<String> jvm, String... arguments)
            throws IOException {
        return start(output, environment, jvm, System.getProperty("java.class.path"), arguments);
    }

    private static RelayServerProcess start(
            Path output, Map<String, String> environment, List<String> jvm, String classPath, String[] arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1"));
        command.addAll(jvm);
        command.addAll(List.of("-cp", classPath, "org.cloister.relay.AgentRelayMain"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()));
        builder.environment().keySet().removeIf(name -> name.startsWith("J") || name.equals("NOTIFY_SOCKET"));
        builder.environment().putAll(environment);
        return new RelayServerProcess(builder.start(), output);
    }

    /** Another build of it. */
    static RelayServerProcess ofBuild(String classPath, Path output, List<String> jvm, Path config) throws IOException {
        return start(output, Map.of(), jvm, classPath, new String[] {config.toString()});
    }

    static RelayServerProcess start(Path output, Path config) throws IOException {
        return start(output, Map.of(), List.of(), config.toString());
    }

    /** Waits until it answers on this port, or fails with what it said. */
    RelayServerProcess serving(int port) throws IOException, InterruptedException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_S);
        while (process.isAlive() && System.nanoTime() - endNs < 0) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
                return this;
            } catch (ConnectException e) {
                process.waitFor(50, TimeUnit.MILLISECONDS);
            }
        }
        throw new AssertionError("port " + port + ": no relay there; it said: " + output());
    }

    /** Tells a new relay whom it serves. It listens for agents first and for operators a little later. */
    RelayServerProcess deliverDocuments(Path socket, TestSite site)
            throws IOException, GeneralSecurityException, InterruptedException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_S);
        while (!listens(socket)) {
            if (!process.isAlive() || System.nanoTime() - endNs >= 0) {
                throw new AssertionError(socket + ": no relay there; it said: " + output());
            }
            process.waitFor(50, TimeUnit.MILLISECONDS);
        }
        for (byte[] each : site.deliveries()) {
            String answer = request(socket, "POST /deliveries", each);
            if (!answer.startsWith("HTTP/1.1 200 ")) {
                throw new AssertionError("delivery: " + answer);
            }
        }
        return this;
    }

    private static boolean listens(Path socket) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return channel.isConnected();
        } catch (SocketException e) {
            return false;
        }
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** SIGTERM. */
    void terminate() {
        process.destroy();
    }

    int status() throws IOException, InterruptedException {
        if (!process.waitFor(WAIT_S, TimeUnit.SECONDS)) {
            throw new AssertionError("the relay: no end within " + WAIT_S + " s; it said: " + output());
        }
        return process.exitValue();
    }

    String pid() {
        return String.valueOf(process.pid());
    }

    boolean isAlive() {
        return process.isAlive();
    }

    String output() throws IOException {
        return Files.readString(words);
    }

    /** What the operators' socket answers to a request such as {@code GET /status}. */
    public static String request(Path socket, String request, byte... body) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            String head = request + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + body.length + "\r\n\r\n";
            channel.write(ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII)));
            ByteBuffer rest = ByteBuffer.wrap(body);
            while (rest.hasRemaining()) {
                channel.write(rest);
            }
            return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** One that nobody listens on just now. */
    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Returns when it has ended: the next one may have the same port. */
    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }
}
