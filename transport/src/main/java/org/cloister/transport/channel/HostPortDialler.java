package org.cloister.transport.channel;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.LinkCodec;
import org.cloister.transport.link.LinkStreams;

/**
 * Opens a VM's connection to its host: opens the port's device and starts a session. Use it with
 * {@code LinkReconnectPolicy.Settings.CHANNEL}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a channel is reported as its end
public final class HostPortDialler implements AgentLink.Dialler {
    /** Name that the host gives to the port. */
    public static final String PORT = "org.cloister.agent.0";

    private static final Path PORTS = Path.of("/sys/class/virtio-ports");

    private final EventLoop loop;
    private final Path device;
    private final SecureRandom random = new SecureRandom();

    /** @param device such as {@link #device()} */
    public HostPortDialler(EventLoop loop, Path device) {
        this.loop = loop;
        this.device = device;
    }

    /**
     * Returns the device of the port {@link #PORT}, as the kernel names it: udev creates {@code /dev/virtio-ports}, and
     * an image may have no udev.
     */
    public static Path device() throws IOException {
        try (DirectoryStream<Path> ports = Files.newDirectoryStream(PORTS)) {
            for (Path port : ports) {
                Path name = port.resolve("name");
                if (Files.exists(name) && Files.readString(name).strip().equals(PORT)) {
                    return Path.of("/dev").resolve(port.getFileName());
                }
            }
        }
        throw new IOException(PORTS + ": want a port named " + PORT + ", have none; the host makes it with the VM");
    }

    @Override
    public Future<ClientLink> dial() {
        Promise<ClientLink> promise = loop.newPromise();
        DeviceChannel port;
        try {
            port = DeviceChannel.open(device);
        } catch (IOException e) {
            return promise.setFailure(e);
        }
        Promise<Channel> session = loop.newPromise();
        port.pipeline()
                .addLast(new ChannelHandshake(
                        random, pipeline -> LinkCodec.client(pipeline, LinkStreams.MACHINE), session));
        promise.addListener(done -> {
            if (promise.isCancelled()) {
                session.cancel(false);
                port.close();
            }
        });
        session.addListener((Future<Channel> opened) -> {
            if (!opened.isSuccess()) {
                promise.tryFailure(
                        new IOException(device + ": " + opened.cause().getMessage(), opened.cause()));
            } else if (!promise.trySuccess(new ClientLink(opened.getNow()))) {
                port.close();
            }
        });
        loop.register(port);
        return promise;
    }
}
