package org.cloister.transport.channel;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.concurrent.Future;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CircuitException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.DialBackToken;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.circuit.CircuitSplice;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.StreamBytes;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.link.StreamResponse;
import org.cloister.transport.link.UnreadStreamBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Serves a host's VMs on the host's own link: serves their names there, forwards their circuits over it, and forwards
 * the relay's messages to them; docs/protocol.md, section 10. It sees the TLS records of each circuit, not their
 * content. Pass it to the host's {@code AgentLink} as its listener.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a channel is reported as its end
public final class VmForwarder implements AgentLinkListener {
    /** The relay alone limits how long a circuit may be idle. */
    private static final CircuitSplice.Limits LIMITS =
            new CircuitSplice.Limits(ProtocolLimits.TOTAL, ProtocolLimits.TOTAL);

    private final CertificateName host;
    private final AgentLinkListener own;
    private final Map<CertificateName, VmPort> assigned = new ConcurrentHashMap<>();
    private final Map<CertificateName, VmChannelSession> serving = new ConcurrentHashMap<>();
    private final Map<DialBackToken, Dialled> dials = new ConcurrentHashMap<>();
    private final Set<VmChannelSession> attached = ConcurrentHashMap.newKeySet();
    /** Last received list of each issuer, by the issuer that the list claims. */
    private final Map<String, RelayMessage.Revocations> lists = new ConcurrentHashMap<>();

    private volatile @Nullable AgentAttachStream up;

    /** A Dial that was forwarded to a VM. */
    private record Dialled(VmChannelSession session, AgentAttachStream attachment, RelayMessage.Dial dial) {}

    /** @param own receives the events that are not for a VM */
    public VmForwarder(CertificateName host, AgentLinkListener own) {
        this.host = host;
        this.own = own;
    }

    /**
     * Keeps a session with a VM from now on.
     *
     * @param socket QEMU's, of the VM's port
     * @param names for which this VM alone may act while the port is open
     * @param events receives the events of this port
     */
    public VmPort open(EventLoop loop, Path socket, Set<CertificateName> names, VmPortListener events) {
        synchronized (assigned) {
            Set<CertificateName> taken = new HashSet<>(names);
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

    void attached(VmChannelSession session) {
        attached.add(session);
        List<RelayMessage.Revocations> newest = List.copyOf(lists.values());
        session.send(new RelayMessage.Attached(host.toString(), ReconnectDelay.ON_CHANNEL, newest.size()));
        newest.forEach(session::send);
        if (!session.isActive()) {
            attached.remove(session);
        }
    }

    void serve(VmChannelSession session, CertificateName name) {
        if (!session.port.names().contains(name)) {
            session.send(new RelayMessage.Served(name, Optional.of(CloseReason.NOT_ALLOWED)));
            return;
        }
        session.served.add(name);
        serving.put(name, session);
        AgentAttachStream link = up;
        if (!session.isActive()) {
            onSessionClosed(session);
        } else if (link != null) {
            link.serve(name);
        }
    }

    void unserve(VmChannelSession session, CertificateName name) {
        session.served.remove(name);
        AgentAttachStream link = up;
        if (serving.remove(name, session) && link != null) {
            link.unserve(name);
        }
    }

    void onSessionClosed(VmChannelSession session) {
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

    void refused(VmChannelSession session, DialBackToken token, CloseReason reason) {
        claim(session, token).ifPresent(each -> each.attachment.refuse(each.dial, reason));
    }

    /** Forwards a circuit that a VM opens, if the claimed name is one of the VM's port. */
    void open(VmChannelSession session, Channel stream, int version, StreamRequest.Circuit request) {
        AgentAttachStream link = up;
        if (!session.port.names().contains(request.from())) {
            session.refuse(stream, CloseReason.NOT_ALLOWED);
        } else if (link == null) {
            session.refuse(stream, CloseReason.DRAINING);
        } else {
            forward(session, stream, version, request, link.link(), CircuitClose.Side.OPENER);
        }
    }

    /** Forwards a VM's ticket stream: the relay itself authenticates the VM and does not rely on the host for that. */
    void tickets(VmChannelSession session, Channel stream, int version, StreamRequest.Tickets request) {
        AgentAttachStream link = up;
        if (request.from().filter(session.port.names()::contains).isEmpty()) {
            session.refuse(stream, CloseReason.NOT_ALLOWED);
        } else if (link == null) {
            session.refuse(stream, CloseReason.DRAINING);
        } else {
            forward(session, stream, version, request, link.link(), CircuitClose.Side.OPENER);
        }
    }

    void dialBack(VmChannelSession session, Channel stream, int version, StreamRequest.DialBack request) {
        Optional<Dialled> dialled = claim(session, request.token());
        if (dialled.isEmpty()) {
            session.refuse(stream, CloseReason.UNKNOWN);
        } else {
            forward(session, stream, version, request, dialled.get().attachment.link(), CircuitClose.Side.TARGET);
        }
    }

    private Optional<Dialled> claim(VmChannelSession session, DialBackToken token) {
        Dialled dialled = dials.get(token);
        boolean its = dialled != null && dialled.session == session && dials.remove(token, dialled);
        return its ? Optional.ofNullable(dialled) : Optional.empty();
    }

    /**
     * Opens a stream on the host's link and splices it with the VM's stream.
     *
     * @param who the VM's side in the circuit
     */
    private static void forward(
            VmChannelSession session,
            Channel stream,
            int version,
            StreamRequest request,
            ClientLink link,
            CircuitClose.Side who) {
        VmPort port = session.port;
        if (!port.acquireStream()) {
            session.refuse(stream, CloseReason.LIMIT);
            return;
        }
        CircuitSplice.End vm = new CircuitSplice.End(stream, who);
        link.open(request, upstream -> splice(vm, version, upstream, request))
                .addListener((Future<Http2StreamChannel> opened) -> {
                    if (opened.isSuccess()) {
                        opened.getNow().closeFuture().addListener(closed -> port.releaseStream());
                    } else {
                        port.releaseStream();
                        CircuitClose close = opened.cause() instanceof CircuitException broken
                                ? broken.close()
                                : CircuitClose.byRelay(CloseReason.NO_ANSWER);
                        // HTTP has no status for "lost", so the VM receives "no answer".
                        StreamResponse.refuse(
                                stream,
                                close.reason().status() == 0 ? CircuitClose.byRelay(CloseReason.NO_ANSWER) : close);
                    }
                });
    }

    /** Splices the streams on the upstream's event loop after its response. */
    private static void splice(CircuitSplice.End vm, int version, Channel upstream, StreamRequest request) {
        upstream.config().setAutoRead(false);
        UnreadStreamBuffer.addLast(upstream);
        upstream.pipeline().remove(StreamBytes.class);
        CircuitSplice.End relay = new CircuitSplice.End(upstream, CircuitClose.Side.RELAY);
        // The opener sends first on a circuit, the relay on a ticket stream: it challenges the VM.
        boolean opens = vm.who() == CircuitClose.Side.OPENER && !(request instanceof StreamRequest.Tickets);
        CircuitSplice splice =
                new CircuitSplice(opens ? vm : relay, opens ? relay : vm, LIMITS, bytes -> {}, close -> {});
        splice.start(side -> respond(side, vm, version), side -> respond(side, vm, version));
    }

    private static void respond(Channel side, CircuitSplice.End vm, int version) {
        if (side == vm.stream() && side.isActive()) {
            ChannelRequestReader.accept(side, version);
        }
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        up = attachment;
        serving.keySet().forEach(attachment::serve);
        own.onAttached(attachment);
    }

    @Override
    public void onLost(String why) {
        up = null;
        own.onLost(why);
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        VmChannelSession session = serving.get(name);
        if (session == null) {
            own.onServed(name, refused);
            return;
        }
        if (refused.isPresent()) {
            serving.remove(name, session);
            session.served.remove(name);
        }
        session.send(new RelayMessage.Served(name, refused));
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        VmChannelSession session = serving.get(dial.to());
        if (session == null) {
            if (assigned.containsKey(dial.to())) {
                attachment.refuse(dial, CloseReason.REFUSED);
            } else {
                own.onDial(attachment, dial);
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
                        ProtocolLimits.DIAL_BACK.toMillis(),
                        TimeUnit.MILLISECONDS);
        session.send(dial);
    }

    /** Forwards a list to the VMs, which verify it themselves, also for projects that the host does not know. */
    @Override
    public boolean onRevocationList(byte[] signed) {
        RelayMessage.Revocations list = new RelayMessage.Revocations(ByteString.copyFrom(signed));
        try {
            String issuer = RevocationList.claimedIssuer(signed);
            if (lists.containsKey(issuer) || lists.size() < ProtocolLimits.LISTS) {
                lists.put(issuer, list);
            }
        } catch (MalformedException e) {
            return own.onRevocationList(signed);
        }
        attached.forEach(session -> session.send(list));
        own.onRevocationList(signed);
        return true;
    }

    @Override
    public void onListRefused(IdentityRefusedException list) {
        own.onListRefused(list);
    }

    @Override
    public void onRenewed(Instant until) {
        own.onRenewed(until);
    }

    @Override
    public void onRenewalFailed(String why) {
        own.onRenewalFailed(why);
    }
}
