package org.cloister.transport.channel;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A port as QEMU makes one: a character device for the VM, a Unix socket for one opener at a time on the host, and between
 * them whatever nobody has read yet. The device is a terminal of util-linux's script, switched to raw.
 */
public final class PtyPort implements AutoCloseable {
    private static final String MAKE = "stty raw -echo && tty >name.new && mv name.new name && exec sleep 600";

    private final Process script;
    private final Path device;
    private final Path socket;
    private final ServerSocketChannel server;
    private final PortWire wire;
    private @Nullable SocketChannel opener;

    private PtyPort(Process script, Path device, Path socket, PortWire wire) throws IOException {
        this.script = script;
        this.device = device;
        this.socket = socket;
        this.wire = wire;
        this.server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket));
        start(this::fromHost);
        start(this::toHost);
    }

    public static PtyPort open(Path folder) throws IOException, InterruptedException {
        return open(folder, PortWire.plain());
    }

    /** @param wire through which all goes */
    public static PtyPort open(Path folder, PortWire wire) throws IOException, InterruptedException {
        Process script = new ProcessBuilder("script", "-q", "-c", MAKE, "/dev/null")
                .directory(folder.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Path name = folder.resolve("name");
        for (int i = 0; i < 1000 && !Files.exists(name); i++) {
            Thread.sleep(10);
        }
        return new PtyPort(script, Path.of(Files.readString(name).strip()), folder.resolve("port"), wire);
    }

    public Path device() {
        return device;
    }

    public Path socket() {
        return socket;
    }

    /** Ends the host's connection, as when its process is killed. */
    public synchronized void hangUp() throws IOException {
        if (opener != null) {
            opener.close();
        }
    }

    private interface Pump {
        void run() throws IOException, InterruptedException;
    }

    private static void start(Pump pump) {
        Thread thread = new Thread(() -> {
            try {
                pump.run();
            } catch (IOException | InterruptedException e) {
                // The test is over.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void fromHost() throws IOException, InterruptedException {
        OutputStream out = script.getOutputStream();
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        while (true) {
            try (SocketChannel next = server.accept()) {
                become(next);
                while (next.read(buffer.clear()) >= 0) {
                    wire.pass(PortFault.From.HOST, Arrays.copyOf(buffer.array(), buffer.position()), bytes -> {
                        out.write(bytes);
                        out.flush();
                    });
                }
            } catch (IOException e) {
                if (!server.isOpen() || !script.isAlive()) {
                    throw e;
                }
            }
            become(null);
        }
    }

    private void toHost() throws IOException, InterruptedException {
        InputStream in = script.getInputStream();
        byte[] bytes = new byte[1 << 16];
        for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) {
            wire.pass(PortFault.From.VM, Arrays.copyOf(bytes, n), this::writePort);
        }
    }

    private void writePort(byte[] bytes) throws InterruptedException {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
            SocketChannel to = awaitOpener();
            try {
                to.write(left);
            } catch (IOException e) {
                closeOnPort(to);
            }
        }
    }

    /** The next one may be there already. */
    private synchronized void closeOnPort(SocketChannel gone) {
        if (opener == gone) {
            opener = null;
        }
    }

    private synchronized void become(@Nullable SocketChannel next) {
        opener = next;
        notifyAll();
    }

    private synchronized SocketChannel awaitOpener() throws InterruptedException {
        while (opener == null) {
            wait();
        }
        return opener;
    }

    @Override
    public void close() {
        try {
            server.close();
            hangUp();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        script.descendants().forEach(ProcessHandle::destroyForcibly);
        script.destroyForcibly();
    }
}
