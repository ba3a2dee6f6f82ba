package org.cloister.protocol.channel;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.concurrent.Future;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.circuit.Splice;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.Answer;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CircuitException;
import org.cloister.protocol.link.Close;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.Pace;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Request;
import org.cloister.protocol.link.StreamBytes;
import org.cloister.protocol.link.Token;
import org.jspecify.annotations.Nullable;

/**
 * What a host does for its VMs on its own link: their names are served there, their circuits go over it, and what the relay
 * says for them goes down to them; docs/protocol.md, section 10. It sees TLS inside of each circuit and nothing of what that
 * holds. Give it to the host's {@code AgentLink} as its events.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class Forwarding implements AgentEvents {
    /** The relay decides when a circuit has been idle for too long. */
    private static final Splice.Limits LIMITS = new Splice.Limits(LinkLimits.TOTAL, LinkLimits.TOTAL);

    private final Name host;
    private final AgentEvents own;
    private final Map<Name, VmPort> assigned = new ConcurrentHashMap<>();
    private final Map<Name, VmSession> serving = new ConcurrentHashMap<>();
    private final Map<Token, Dialled> dials = new ConcurrentHashMap<>();
    private final Set<VmSession> attached = ConcurrentHashMap.newKeySet();
    /** The last list that came of each issuer, by what it says of itself. */
    private final Map<String, RelayMessage.Revocations> lists = new ConcurrentHashMap<>();

    private volatile @Nullable Attachment up;

    /** A Dial that went down to a VM. */
    private record Dialled(VmSession session, Attachment attachment, RelayMessage.Dial dial) {}

    /** @param own hears what is not for a VM */
    public Forwarding(Name host, AgentEvents own) {
        this.host = host;
        this.own = own;
    }

    /**
     * Keeps a session with a VM from now on.
     *
     * @param socket QEMU's, of the VM's port
     * @param names whom this VM may speak for, and nobody else meanwhile
     * @param events hears of this port
     */
    public VmPort open(EventLoop loop, Path socket, Set<Name> names, PortEvents events) {
        synchronized (assigned) {
            Set<Name> taken = new HashSet<>(names);
            taken.retainAll(assigned.keySet());
            if (!taken.isEmpty()) {
                throw new IllegalArgumentException(socket + ": names of another port: " + taken);
            }
            VmPort port = new VmPort(loop, socket, names, this, events);
            names.forEach(name -> assigned.put(name, port));
            return port;
        }
    }

    void release(VmPort port) {
        port.names().forEach(name -> assigned.remove(name, port));
    }

    void attached(VmSession session) {
        attached.add(session);
        List<RelayMessage.Revocations> told = List.copyOf(lists.values());
        session.say(new RelayMessage.Attached(host.toString(), Pace.ON_CHANNEL, told.size()));
        told.forEach(session::say);
        if (!session.isActive()) {
            attached.remove(session);
        }
    }

    void serve(VmSession session, Name name) {
        if (!session.port.names().contains(name)) {
            session.say(new RelayMessage.Served(name, Optional.of(CloseReason.NOT_ALLOWED)));
            return;
        }
        session.served.add(name);
        serving.put(name, session);
        Attachment link = up;
        if (!session.isActive()) {
            gone(session);
        } else if (link != null) {
            link.serve(name);
        }
    }

    void unserve(VmSession session, Name name) {
        session.served.remove(name);
        Attachment link = up;
        if (serving.remove(name, session) && link != null) {
            link.unserve(name);
        }
    }

    void gone(VmSession session) {
        attached.remove(session);
        session.served.forEach(name -> unserve(session, name));
        dials.values().removeIf(each -> {
            if (each.session != session) {
                return false;
            }
            each.attachment.refuse(each.dial, CloseReason.REFUSED);
            return true;
        });
    }

    void refused(VmSession session, Token token, CloseReason reason) {
        take(session, token).ifPresent(each -> each.attachment.refuse(each.dial, reason));
    }

    /** A VM opens a circuit: what it says it is counts only where it is what the host knows. */
    void open(VmSession session, Channel stream, int version, Request.Circuit request) {
        Attachment link = up;
        if (!session.port.names().contains(request.from())) {
            session.refuse(stream, CloseReason.NOT_ALLOWED);
        } else if (link == null) {
            session.refuse(stream, CloseReason.DRAINING);
        } else {
            forward(session, stream, version, request, link.link(), Close.Side.OPENER);
        }
    }

    /** A VM's stream of tickets: the relay asks the VM who it is, and believes the host nothing of it. */
    void tickets(VmSession session, Channel stream, int version, Request.Tickets request) {
        Attachment link = up;
        if (request.from().filter(session.port.names()::contains).isEmpty()) {
            session.refuse(stream, CloseReason.NOT_ALLOWED);
        } else if (link == null) {
            session.refuse(stream, CloseReason.DRAINING);
        } else {
            forward(session, stream, version, request, link.link(), Close.Side.OPENER);
        }
    }

    void dialBack(VmSession session, Channel stream, int version, Request.DialBack request) {
        Optional<Dialled> dialled = take(session, request.token());
        if (dialled.isEmpty()) {
            session.refuse(stream, CloseReason.UNKNOWN);
        } else {
            forward(session, stream, version, request, dialled.get().attachment.link(), Close.Side.TARGET);
        }
    }

    private Optional<Dialled> take(VmSession session, Token token) {
        Dialled dialled = dials.get(token);
        boolean its = dialled != null && dialled.session == session && dials.remove(token, dialled);
        return its ? Optional.ofNullable(dialled) : Optional.empty();
    }

    /** @param who the VM is in the circuit */
    private static void forward(
            VmSession session, Channel stream, int version, Request request, Link link, Close.Side who) {
        VmPort port = session.port;
        if (!port.enter()) {
            session.refuse(stream, CloseReason.LIMIT);
            return;
        }
        Splice.End vm = new Splice.End(stream, who);
        link.open(request, upstream -> splice(vm, version, upstream, request))
                .addListener((Future<Http2StreamChannel> opened) -> {
                    if (opened.isSuccess()) {
                        opened.getNow().closeFuture().addListener(closed -> port.leave());
                    } else {
                        port.leave();
                        Close close = opened.cause() instanceof CircuitException broken
                                ? broken.close()
                                : Close.byRelay(CloseReason.NO_ANSWER);
                        // HTTP has no status for "lost": to the VM it is no answer.
                        Answer.refuse(stream, close.why().status() == 0 ? Close.byRelay(CloseReason.NO_ANSWER) : close);
                    }
                });
    }

    /** On the upstream's event loop, when its response has come. */
    private static void splice(Splice.End vm, int version, Channel upstream, Request request) {
        upstream.config().setAutoRead(false);
        upstream.pipeline().addLast(new Held());
        upstream.pipeline().remove(StreamBytes.class);
        Splice.End relay = new Splice.End(upstream, Close.Side.RELAY);
        // Of a circuit the opener speaks first, of a stream of tickets the relay: it asks who the VM is.
        boolean opens = vm.who() == Close.Side.OPENER && !(request instanceof Request.Tickets);
        Splice splice = new Splice(opens ? vm : relay, opens ? relay : vm, LIMITS, bytes -> {}, close -> {});
        splice.start(side -> respond(side, vm, version), side -> respond(side, vm, version));
    }

    private static void respond(Channel side, Splice.End vm, int version) {
        if (side == vm.stream()) {
            if (side.isActive()) {
                VmStream.accept(side, version);
            }
        } else {
            side.pipeline().remove(Held.class);
        }
    }

    @Override
    public void attached(Attachment attachment) {
        up = attachment;
        serving.keySet().forEach(attachment::serve);
        own.attached(attachment);
    }

    @Override
    public void lost(String why) {
        up = null;
        own.lost(why);
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {
        VmSession session = serving.get(name);
        if (session == null) {
            own.served(name, refused);
            return;
        }
        if (refused.isPresent()) {
            serving.remove(name, session);
            session.served.remove(name);
        }
        session.say(new RelayMessage.Served(name, refused));
    }

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        VmSession session = serving.get(dial.to());
        if (session == null) {
            if (assigned.containsKey(dial.to())) {
                attachment.refuse(dial, CloseReason.REFUSED);
            } else {
                own.dialled(attachment, dial);
            }
            return;
        }
        Dialled dialled = new Dialled(session, attachment, dial);
        dials.put(dial.token(), dialled);
        attachment
                .link()
                .loop()
                .schedule(
                        () -> dials.remove(dial.token(), dialled),
                        LinkLimits.DIAL_BACK.toMillis(),
                        TimeUnit.MILLISECONDS);
        session.say(dial);
    }

    /** VMs check a list themselves, and for projects that the host knows nothing of. */
    @Override
    public boolean revoked(byte[] signed) {
        RelayMessage.Revocations list = new RelayMessage.Revocations(ByteString.copyFrom(signed));
        try {
            String issuer = RevocationList.claimedIssuer(signed);
            if (lists.containsKey(issuer) || lists.size() < LinkLimits.LISTS) {
                lists.put(issuer, list);
            }
        } catch (MalformedException e) {
            return own.revoked(signed);
        }
        attached.forEach(session -> session.say(list));
        own.revoked(signed);
        return true;
    }
}
