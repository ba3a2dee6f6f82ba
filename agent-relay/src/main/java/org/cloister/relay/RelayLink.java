package org.cloister.relay;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.protocol.Digest;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.RelayMessage;
import org.jspecify.annotations.Nullable;

/** One agent's connection. Its fields are read from any thread; its attach stream is written from any thread. */
@SuppressWarnings("FutureReturnValueIgnored") // what cannot be written shows as the stream's end
final class RelayLink {
    private static final Set<String> PEOPLE = Set.of("owner", "opener", "member", "exporter");

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
    private final AtomicInteger unwritten = new AtomicInteger();
    private final AtomicBoolean attachClaimed = new AtomicBoolean();
    private volatile boolean requested;
    private volatile @Nullable Channel attachStream;
    private volatile String software = "";
    /** Lists that were sent here and are not acknowledged yet. */
    private final Set<Digest> unkept = ConcurrentHashMap.newKeySet();

    RelayLink(Channel connection, Identity identity, List<ByteString> chain, Instant since) {
        this.connection = connection;
        this.peer = identity.name();
        this.identity = identity;
        this.chain = List.copyOf(chain);
        this.since = since;
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
        unkept.remove(list);
    }

    /** Whether it has to do with this project, or the list is the site's. */
    boolean concernedBy(String scope) {
        return scope.equals(Name.SITE)
                || scope.equals(peer.project())
                || served.stream().anyMatch(name -> name.project().equals(scope));
    }

    /** @return as {@link #say} */
    boolean sayRevocations(RevocationList list) {
        byte[] signed = list.bytes();
        unkept.add(Digest.sha256(signed));
        return say(new RelayMessage.Revocations(ByteString.copyFrom(signed)));
    }

    /** @return false when the agent does not read what it is told; it should be let go */
    boolean say(RelayMessage message) {
        Channel stream = attachStream;
        if (stream == null) {
            return true;
        }
        if (unwritten.incrementAndGet() > LinkLimits.ATTACH_QUEUE) {
            return false;
        }
        stream.writeAndFlush(Framing.frame(message.wire())).addListener(done -> unwritten.decrementAndGet());
        return true;
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
