package org.cloister.relay.links;

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
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.relay.fairness.TokenBucket;
import org.cloister.transport.link.MessageFraming;
import org.jspecify.annotations.Nullable;

/** One agent's connection. Its fields are read from any thread; its attach stream is written from any thread. */
@SuppressWarnings("FutureReturnValueIgnored") // what cannot be written shows as the stream's end
public final class RelayLink {
    private static final Set<String> PEOPLE = Set.of("owner", "opener", "member", "exporter");

    private static final long BURST = 10L * ProtocolLimits.REQUESTS;
    private static final long DEVICE_BURST = 20L * ProtocolLimits.DEVICE_REQUESTS;

    public final CertificateName peer;
    public final CertifiedIdentity identity;
    /** In DER, the leaf first. */
    final List<ByteString> chain;

    public final Instant since;
    final Set<CertificateName> served = ConcurrentHashMap.newKeySet();
    final AtomicInteger streams = new AtomicInteger();
    final RenewalThrottle renewal = new RenewalThrottle(ProtocolLimits.RENEWAL_PAUSE.toNanos());
    /** Of a desk's deliveries. */
    final RenewalThrottle delivery = new RenewalThrottle(ProtocolLimits.RENEWAL_PAUSE.toNanos());

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

    RelayLink(Channel connection, CertifiedIdentity identity, List<ByteString> chain, Instant since) {
        this.connection = connection;
        this.peer = identity.name();
        this.identity = identity;
        this.chain = List.copyOf(chain);
        this.since = since;
        this.requests = identity.role() == CertificateRole.DEVICE
                ? new TokenBucket(ProtocolLimits.DEVICE_REQUESTS, DEVICE_BURST, System.nanoTime())
                : new TokenBucket(ProtocolLimits.REQUESTS, BURST, System.nanoTime());
    }

    /** Whether circuits may come from this name on this link: the agent's own, its person's, or a VM's of its host. */
    public boolean ownsName(CertificateName name) {
        return name.equals(peer)
                || (isHost() && served.contains(name))
                || (peer.role().equals("device")
                        && PEOPLE.contains(name.role())
                        && name.id().equals(peer.id())
                        && name.project().equals(peer.project()));
    }

    boolean mayClaimName(CertificateName name) {
        return isHost() || name.equals(peer) || ownsName(name);
    }

    boolean isDevice() {
        return identity.role() == CertificateRole.DEVICE;
    }

    public boolean isHost() {
        return identity.role() == CertificateRole.HOST;
    }

    /** Where the site's CA answers renewals. */
    boolean isAuthority() {
        return peer.role().equals("desk");
    }

    /** A request came, good or not. After more than its share nothing is read of the connection for a while. On its event loop. */
    void onRequest() {
        requests.charge(1, System.nanoTime());
        long waitNs = requests.waitNs(1, System.nanoTime());
        if (waitNs > 0 && connection.config().isAutoRead()) {
            connection.config().setAutoRead(false);
            connection.eventLoop().schedule(() -> connection.config().setAutoRead(true), waitNs, TimeUnit.NANOSECONDS);
        }
    }

    /** It is of use: the first good request has come. */
    void onFirstRequest() {
        requested = true;
    }

    boolean hasRequested() {
        return requested;
    }

    /** @return true once: a link has one attach stream */
    boolean claimAttach() {
        return attachClaimed.compareAndSet(false, true);
    }

    void onAttached(Channel stream, String program) {
        software = program;
        attachStream = stream;
    }

    public boolean isAttached() {
        return attachStream != null;
    }

    public String software() {
        return software;
    }

    /** How many lists it was sent and has not said to have in force. */
    public int revocationsPending() {
        return unkept.size();
    }

    void onRevocationsStored(Digest list) {
        unkept.values().remove(list);
    }

    /** Whether it has to do with this project, or the list is the site's. */
    boolean concerns(String scope) {
        return scope.equals(CertificateName.SITE)
                || scope.equals(peer.project())
                || served.stream().anyMatch(name -> name.project().equals(scope));
    }

    /**
     * Says a list; the newest one of its issuer is to be acknowledged.
     *
     * @param framed as it travels, of bytes that all links share: its length does not count as this link's
     * @return as {@link #send}
     */
    boolean sendRevocationList(RevocationList list, ByteBuf framed) {
        unkept.put(list.anchor(), Digest.sha256(list.bytes()));
        return write(framed, 0);
    }

    /** @return false when the agent does not read what it is told; it should be let go */
    boolean send(RelayMessage message) {
        ByteBuf frame = MessageFraming.frame(message.wire());
        return write(frame, frame.readableBytes());
    }

    /**
     * Sends what another party asked for, while less than half of the queue is taken. The other half is kept for the relay's own
     * messages, so that only the agent itself can make its queue overflow.
     *
     * @return false if it is not said, and the agent is not to be let go for that
     */
    public boolean offer(RelayMessage message) {
        return unwritten.get() < ProtocolLimits.ATTACH_QUEUE / 2 && send(message);
    }

    private boolean write(ByteBuf frame, int bytes) {
        Channel stream = attachStream;
        if (stream == null) {
            frame.release();
            return true;
        }
        int messages = unwritten.incrementAndGet();
        int all = unwrittenBytes.addAndGet(bytes);
        if (messages > ProtocolLimits.ATTACH_QUEUE || all > ProtocolLimits.ATTACH_QUEUE_BYTES) {
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

    public ChannelFuture close() {
        return connection.close();
    }

    public List<CertificateName> servedNames() {
        return served.stream()
                .sorted((a, b) -> a.toString().compareTo(b.toString()))
                .toList();
    }
}
