package org.cloister.relay;

import com.google.protobuf.ByteString;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.relay.fair.TokenBucket;
import org.jspecify.annotations.Nullable;

/** One agent's connection. Its fields are read from any thread; its attach stream is written from any thread. */
@SuppressWarnings("FutureReturnValueIgnored") // what cannot be written shows as the stream's end
final class RelayLink {
    private static final Set<String> PEOPLE = Set.of("owner", "opener", "member", "exporter");

    private static final long BURST = 10L * LinkLimits.REQUESTS;
    private static final long DEVICE_BURST = 20L * LinkLimits.DEVICE_REQUESTS;

    final Name peer;
    final Identity identity;
    /** In DER, the leaf first. */
    final List<ByteString> chain;

    final Instant since;
    final Set<Name> served = ConcurrentHashMap.newKeySet();
    final AtomicInteger streams = new AtomicInteger();
    final RenewalTurn renewal = new RenewalTurn(LinkLimits.RENEWAL_PAUSE.toNanos());
    /** Of a desk's deliveries. */
    final RenewalTurn delivery = new RenewalTurn(LinkLimits.RENEWAL_PAUSE.toNanos());

    private final Channel connection;
    /** On its event loop. */
    private final TokenBucket requests;

    private final AtomicInteger unwritten = new AtomicInteger();
    private final AtomicInteger unwrittenBytes = new AtomicInteger();
    private final AtomicBoolean attachClaimed = new AtomicBoolean();
    private volatile boolean requested;
    private volatile @Nullable Channel attachStream;
    private volatile String software = "";
    /** Lists that were sent here and are not acknowledged yet: of each issuer the newest. */
    private final Map<VerificationKey, Digest> unkept = new ConcurrentHashMap<>();

    RelayLink(Channel connection, Identity identity, List<ByteString> chain, Instant since) {
        this.connection = connection;
        this.peer = identity.name();
        this.identity = identity;
        this.chain = List.copyOf(chain);
        this.since = since;
        this.requests = identity.role() == Role.DEVICE
                ? new TokenBucket(LinkLimits.DEVICE_REQUESTS, DEVICE_BURST, System.nanoTime())
                : new TokenBucket(LinkLimits.REQUESTS, BURST, System.nanoTime());
    }

    /** Whether circuits may come from this name on this link: the agent's own, its person's, or a VM's of its host. */
    boolean speaksFor(Name name) {
        return name.equals(peer)
                || (isHost() && served.contains(name))
                || (peer.role().equals("device")
                        && PEOPLE.contains(name.role())
                        && name.id().equals(peer.id())
                        && name.project().equals(peer.project()));
    }

    boolean maySay(Name name) {
        return isHost() || name.equals(peer) || speaksFor(name);
    }

    boolean isDevice() {
        return identity.role() == Role.DEVICE;
    }

    boolean isHost() {
        return identity.role() == Role.HOST;
    }

    /** Where the site's CA answers renewals. */
    boolean isDesk() {
        return peer.role().equals("desk");
    }

    /** A request came, good or not. After more than its share nothing is read of the connection for a while. On its event loop. */
    void asked() {
        requests.charge(1, System.nanoTime());
        long waitNs = requests.waitNs(1, System.nanoTime());
        if (waitNs > 0 && connection.config().isAutoRead()) {
            connection.config().setAutoRead(false);
            connection.eventLoop().schedule(() -> connection.config().setAutoRead(true), waitNs, TimeUnit.NANOSECONDS);
        }
    }

    /** It is of use: the first good request has come. */
    void requested() {
        requested = true;
    }

    boolean hasRequested() {
        return requested;
    }

    /** @return true once: a link has one attach stream */
    boolean claimAttach() {
        return attachClaimed.compareAndSet(false, true);
    }

    void attached(Channel stream, String program) {
        software = program;
        attachStream = stream;
    }

    boolean isAttached() {
        return attachStream != null;
    }

    String software() {
        return software;
    }

    /** How many lists it was sent and has not said to have in force. */
    int revocationsPending() {
        return unkept.size();
    }

    void kept(Digest list) {
        unkept.values().remove(list);
    }

    /** Whether it has to do with this project, or the list is the site's. */
    boolean concernedBy(String scope) {
        return scope.equals(Name.SITE)
                || scope.equals(peer.project())
                || served.stream().anyMatch(name -> name.project().equals(scope));
    }

    /**
     * Says a list; the newest one of its issuer is to be acknowledged.
     *
     * @param framed as it travels, of bytes that all links share: its length does not count as this link's
     * @return as {@link #say}
     */
    boolean sayRevocations(RevocationList list, ByteBuf framed) {
        unkept.put(list.anchor(), Digest.sha256(list.bytes()));
        return write(framed, 0);
    }

    /** @return false when the agent does not read what it is told; it should be let go */
    boolean say(RelayMessage message) {
        ByteBuf frame = Framing.frame(message.wire());
        return write(frame, frame.readableBytes());
    }

    /**
     * Sends what another party asked for, while less than half of the queue is taken. The other half is kept for the relay's own
     * messages, so that only the agent itself can make its queue overflow.
     *
     * @return false if it is not said, and the agent is not to be let go for that
     */
    boolean offer(RelayMessage message) {
        return unwritten.get() < LinkLimits.ATTACH_QUEUE / 2 && say(message);
    }

    private boolean write(ByteBuf frame, int bytes) {
        Channel stream = attachStream;
        if (stream == null) {
            frame.release();
            return true;
        }
        int messages = unwritten.incrementAndGet();
        int all = unwrittenBytes.addAndGet(bytes);
        if (messages > LinkLimits.ATTACH_QUEUE || all > LinkLimits.ATTACH_QUEUE_BYTES) {
            written(bytes);
            frame.release();
            return false;
        }
        stream.writeAndFlush(frame).addListener(done -> written(bytes));
        return true;
    }

    private void written(int bytes) {
        unwritten.decrementAndGet();
        unwrittenBytes.addAndGet(-bytes);
    }

    Channel connection() {
        return connection;
    }

    ChannelFuture close() {
        return connection.close();
    }

    List<Name> servedNames() {
        return served.stream()
                .sorted((a, b) -> a.toString().compareTo(b.toString()))
                .toList();
    }
}
