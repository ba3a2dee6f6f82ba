package org.cloister.transport.link;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Iterator;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.DialBackToken;
import org.cloister.protocol.link.ProtocolVersions;
import org.jspecify.annotations.Nullable;

/** Request with which an agent opens a stream; docs/protocol.md, section 7. */
public sealed interface StreamRequest {
    String VERSION = "cloister-version";
    String POLICY = "cloister-policy";
    String FROM = "cloister-from";
    String CLOSE = "cloister-close";

    /** Returns the versions that the requester speaks. */
    ProtocolVersions versions();

    String path();

    /** Opens the attach stream of a link. */
    record Attach(ProtocolVersions versions) implements StreamRequest {
        @Override
        public String path() {
            return "/attach";
        }
    }

    /**
     * Opens a circuit.
     *
     * @param policy SHA-384 of the policy with which the opener appraises
     */
    record Circuit(ProtocolVersions versions, CertificateName to, CertificateName from, Digest policy)
            implements StreamRequest {
        @Override
        public String path() {
            return "/circuit/" + to;
        }
    }

    /** Opens the second half of a circuit. */
    record DialBack(ProtocolVersions versions, DialBackToken token) implements StreamRequest {
        @Override
        public String path() {
            return "/dialback/" + token.hex();
        }
    }

    /**
     * Opens a ticket stream.
     *
     * @param from a controlling VM, whose host forwards the stream; empty for the link's own agent
     */
    record Tickets(ProtocolVersions versions, Optional<CertificateName> from) implements StreamRequest {
        @Override
        public String path() {
            return "/tickets";
        }
    }

    /** Requests evidence from a VM's host; on a channel only. */
    record Evidence(ProtocolVersions versions) implements StreamRequest {
        @Override
        public String path() {
            return "/evidence";
        }
    }

    /** Requests an assignment from a VM's host; on a channel only. */
    record Assignment(ProtocolVersions versions) implements StreamRequest {
        @Override
        public String path() {
            return "/assignment";
        }
    }

    default Http2Headers headers() {
        Http2Headers headers = new DefaultHttp2Headers()
                .method("POST")
                .scheme("https")
                .authority("relay")
                .path(path())
                .set(VERSION, versions().toString());
        if (this instanceof Circuit circuit) {
            headers.set(FROM, circuit.from.toString());
            headers.set(POLICY, circuit.policy.hex());
        } else if (this instanceof Tickets tickets) {
            tickets.from.ifPresent(name -> headers.set(FROM, name.toString()));
        }
        return headers;
    }

    /**
     * Parses a request's header fields.
     *
     * @throws MalformedException answered with {@link CloseReason#BAD_REQUEST}
     */
    static StreamRequest parse(Http2Headers headers) throws MalformedException {
        if (!"POST".contentEquals(pseudo(headers.method()))) {
            throw new MalformedException("method: want POST, have another one");
        }
        ProtocolVersions versions = ProtocolVersions.parse(required(headers, VERSION));
        String path = pseudo(headers.path()).toString();
        if (path.equals("/attach")) {
            return new Attach(versions);
        }
        if (path.equals("/tickets")) {
            Optional<CertificateName> from = headers.contains(FROM)
                    ? Optional.of(CertificateName.parseReceived(FROM, required(headers, FROM)))
                    : Optional.empty();
            return new Tickets(versions, from);
        }
        if (path.equals("/evidence")) {
            return new Evidence(versions);
        }
        if (path.equals("/assignment")) {
            return new Assignment(versions);
        }
        if (path.startsWith("/dialback/")) {
            return new DialBack(versions, DialBackToken.parse(path.substring("/dialback/".length())));
        }
        if (path.startsWith("/circuit/")) {
            CertificateName to = CertificateName.parseReceived("path", path.substring("/circuit/".length()));
            return new Circuit(
                    versions,
                    to,
                    CertificateName.parseReceived(FROM, required(headers, FROM)),
                    digest(required(headers, POLICY)));
        }
        throw new MalformedException(
                "path: want /attach, /tickets, /evidence, /assignment, /circuit/NAME or /dialback/TOKEN, have another");
    }

    /** Returns the reason in a response or in trailers, if it is well-formed. */
    static Optional<CircuitClose> close(Http2Headers headers) {
        CharSequence value = headers.get(CLOSE);
        try {
            return value == null ? Optional.empty() : Optional.of(CircuitClose.parse(value));
        } catch (MalformedException e) {
            return Optional.empty();
        }
    }

    private static Digest digest(String hex) throws MalformedException {
        try {
            return new Digest(Digest.Algorithm.SHA384, hex);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(POLICY + ": want 96 lower-case hex digits", e);
        }
    }

    private static CharSequence pseudo(@Nullable CharSequence value) {
        return value == null ? "" : value;
    }

    private static String required(Http2Headers headers, String field) throws MalformedException {
        Iterator<CharSequence> values = headers.valueIterator(field);
        if (!values.hasNext()) {
            throw new MalformedException(field + ": missing");
        }
        String value = values.next().toString();
        if (values.hasNext()) {
            throw new MalformedException(field + ": want it once, have it twice");
        }
        return value;
    }
}
