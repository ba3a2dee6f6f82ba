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
import org.cloister.relay.circuits.CircuitLink;
import org.cloister.relay.fairness.TokenBucket;
import org.cloister.transport.link.LinkStreams;
import org.cloister.transport.link.MessageFraming;
import org.jspecify.annotations.Nullable;

/** Connection of one agent. Its fields may be read, and its attach stream written, from any thread. */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write shows as the stream's end
public final class RelayLink implements CircuitLink {
    private static final Set<String> PERSON_ROLES = Set.of("owner", "opener", "member", "exporter");

    private static final long BURST = 10L * ProtocolLimits.REQUESTS;
    private static final long DEVICE_BURST = 20L * ProtocolLimits.DEVICE_REQUESTS;

    public final CertificateName peer;
    public final CertifiedIdentity identity;
    /** Certificates in DER, the leaf first. */
    final List<ByteString> chain;

    public final Instant since;
    private final boolean forRenewal;
    final Set<CertificateName> served = ConcurrentHashMap.newKeySet();
    final AtomicInteger streams = new AtomicInteger();
    final LinkStreams limits;
    final RenewalThrottle renewal = new RenewalThrottle(ProtocolLimits.RENEWAL_PAUSE.toNanos());
    /** Limits the deliveries of the site's registration authority. */
    final RenewalThrottle delivery = new RenewalThrottle(ProtocolLimits.RENEWAL_PAUSE.toNanos());

    private final Channel connection;
    /** Used on the connection's event loop only. */
    private final TokenBucket requests;

    private final AtomicInteger unwritten = new AtomicInteger();
    private final AtomicInteger unwrittenBytes = new AtomicInteger();
    private final AtomicBoolean attachClaimed = new AtomicBoolean();
    private volatile boolean requested;
    private volatile @Nullable Channel attachStream;
    private volatile String software = "";
    /** Newest list of each issuer that was sent and is not acknowledged yet. */
    private final Map<VerificationKey, Digest> unacknowledged = new ConcurrentHashMap<>();

    RelayLink(Channel connection, CertifiedIdentity identity, List<ByteString> chain, Instant since) {
        this(connection, identity, chain, since, false);
    }

    /** @param forRenewal whether the peer has an expired certificate, or its token's, and may only ask for one */
    RelayLink(
            Channel connection, CertifiedIdentity identity, List<ByteString> chain, Instant since, boolean forRenewal) {
        this.forRenewal = forRenewal;
        this.connection = connection;
        this.peer = identity.name();
        this.identity = identity;
        this.chain = List.copyOf(chain);
        this.limits = LinkStreams.of(identity.role());
        this.since = since;
        this.requests = identity.role() == CertificateRole.DEVICE
                ? new TokenBucket(ProtocolLimits.DEVICE_REQUESTS, DEVICE_BURST, System.nanoTime())
                : new TokenBucket(ProtocolLimits.REQUESTS, BURST, System.nanoTime());
    }

    /**
     * Returns whether circuits from this name may come on this link: the agent's own name, its person's, or that of a
     * VM of its host.
     */
    @Override
    public boolean ownsName(CertificateName name) {
        return name.equals(peer)
                || (isHost() && served.contains(name))
                || (peer.role().equals("device")
                        && PERSON_ROLES.contains(name.role())
                        && name.id().equals(peer.id())
                        && name.project().equals(peer.project()));
    }

    boolean mayClaimName(CertificateName name) {
        return isHost() || name.equals(peer) || ownsName(name);
    }

    /** Returns whether the peer may renew its expired certificate, or ask for its first one, and nothing else. */
    boolean isForRenewal() {
        return forRenewal;
    }

    /** Returns whether the peer has an enrolment token and no certificate of its own yet. */
    boolean isJoining() {
        return identity.role() == CertificateRole.JOIN;
    }

    boolean isDevice() {
        return identity.role() == CertificateRole.DEVICE;
    }

    public boolean isHost() {
        return identity.role() == CertificateRole.HOST;
    }

    /** Returns whether this is a link of the site's registration authority, which answers renewals. */
    boolean isAuthority() {
        return peer.role().equals("desk");
    }

    /**
     * Counts a request, valid or not. When the link exceeds its rate, the relay stops reading its connection for a
     * while. Must be called on the connection's event loop.
     */
    void onRequest() {
        requests.charge(1, System.nanoTime());
        long waitNs = requests.waitNs(1, System.nanoTime());
        if (waitNs > 0 && connection.config().isAutoRead()) {
            connection.config().setAutoRead(false);
            connection.eventLoop().schedule(() -> connection.config().setAutoRead(true), waitNs, TimeUnit.NANOSECONDS);
        }
    }

    /** Records that the first valid request has arrived. */
    void onFirstRequest() {
        requested = true;
    }

    boolean hasRequested() {
        return requested;
    }

    /**
     * Claims the link's attach stream.
     *
     * @return true for the first call only: a link has one attach stream
     */
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

    /** Returns the number of lists that were sent to the agent and that it has not acknowledged. */
    public int revocationsPending() {
        return unacknowledged.size();
    }

    void onRevocationsStored(Digest list) {
        unacknowledged.values().remove(list);
    }

    /** Returns whether the link concerns this project, or the scope is the site's. */
    boolean concerns(String scope) {
        return scope.equals(CertificateName.SITE)
                || scope.equals(peer.project())
                || served.stream().anyMatch(name -> name.project().equals(scope));
    }

    /**
     * Sends a revocation list; the agent must acknowledge the newest list of each issuer.
     *
     * @param framed the encoded list, whose bytes all links share: its length does not count towards this link's queue
     * @return as {@link #send}
     */
    boolean sendRevocationList(RevocationList list, ByteBuf framed) {
        unacknowledged.put(list.anchor(), Digest.sha256(list.bytes()));
        return write(framed, 0);
    }

    /**
     * Sends a message on the attach stream.
     *
     * @return false if the agent does not read its attach stream; the caller should close the link
     */
    boolean send(RelayMessage message) {
        ByteBuf frame = MessageFraming.frame(message.wire());
        return write(frame, frame.readableBytes());
    }

    /**
     * Sends a message that another party caused, while less than half of the queue is used. The other half is kept for
     * the relay's own messages, so that only the agent itself can make its queue overflow.
     *
     * @return false if the message was not sent; the link stays open
     */
    @Override
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
