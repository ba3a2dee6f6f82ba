package org.cloister.protocol.channel;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.LinkCodec;

/** A VM's way to its host: opens the port's device and begins a session. Use with {@code Reconnect.Terms.CHANNEL}. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class PortDialler implements AgentLink.Dialler {
    /** The name that the host gives the port. */
    public static final String PORT = "org.cloister.agent.0";

    private static final Path PORTS = Path.of("/sys/class/virtio-ports");

    private final EventLoop loop;
    private final Path device;
    private final SecureRandom random = new SecureRandom();

    /** @param device such as {@link #device()} */
    public PortDialler(EventLoop loop, Path device) {
        this.loop = loop;
        this.device = device;
    }

    /**
     * The device of the port {@link #PORT}, by what the kernel says: {@code /dev/virtio-ports} is udev's, and an image may
     * have none.
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
    public Future<Link> dial() {
        Promise<Link> promise = loop.newPromise();
        DeviceChannel port;
        try {
            port = DeviceChannel.open(device);
        } catch (IOException e) {
            return promise.setFailure(e);
        }
        Promise<Channel> session = loop.newPromise();
        port.pipeline().addLast(new Opening(random, LinkCodec::client, session));
        promise.addListener(done -> {
            if (promise.isCancelled()) {
                session.cancel(false);
                port.close();
            }
        });
        session.addListener((Future<Channel> begun) -> {
            if (!begun.isSuccess()) {
                promise.tryFailure(new IOException(device + ": " + begun.cause().getMessage(), begun.cause()));
            } else if (!promise.trySuccess(new Link(begun.getNow()))) {
                port.close();
            }
        });
        loop.register(port);
        return promise;
    }
}
