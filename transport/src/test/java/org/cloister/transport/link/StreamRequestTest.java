package org.cloister.transport.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.http2.Http2Headers;
import java.security.SecureRandom;
import java.util.function.Consumer;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.DialBackToken;
import org.cloister.protocol.link.ProtocolVersions;
import org.junit.jupiter.api.Test;

class StreamRequestTest {
    private static final StreamRequest.Circuit CIRCUIT = new StreamRequest.Circuit(
            ProtocolVersions.OURS,
            new CertificateName("c", "controller", "p"),
            new CertificateName("a", "member", "p"),
            Digest.sha384("policy"));

    @Test
    void reads_back_what_it_writes() throws MalformedException {
        for (StreamRequest request : new StreamRequest[] {
            CIRCUIT,
            new StreamRequest.Attach(new ProtocolVersions(2, 3)),
            new StreamRequest.Evidence(ProtocolVersions.OURS),
            new StreamRequest.Assignment(ProtocolVersions.OURS),
            new StreamRequest.DialBack(ProtocolVersions.OURS, DialBackToken.random(new SecureRandom()))
        }) {
            assertThat(StreamRequest.parse(request.headers())).isEqualTo(request);
        }
    }

    private static void refused(Consumer<Http2Headers> change, String why) {
        Http2Headers headers = CIRCUIT.headers();
        change.accept(headers);
        assertThatThrownBy(() -> StreamRequest.parse(headers))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(why);
    }

    @Test
    void refuses_what_is_not_in_the_document() {
        refused(headers -> headers.method("GET"), "method");
        refused(headers -> headers.path("/"), "path");
        refused(headers -> headers.path("/circuit/"), "path");
        refused(headers -> headers.path("/circuit/c.controller.p.cloister.internal/"), "ID.ROLE.PROJECT");
        refused(headers -> headers.path("/circuit/c.controller.p.cloister.external"), "ID.ROLE.PROJECT");
        refused(headers -> headers.path("/circuit/C.controller.p.cloister.internal"), "labels");
        refused(headers -> headers.path("/circuit/" + "a".repeat(300)), "ID.ROLE.PROJECT");
        refused(headers -> headers.path("/dialback/00"), "token");
        refused(headers -> headers.path("/dialback/" + "0A".repeat(32)), "token");
        refused(headers -> headers.path("/attach/"), "path");
        refused(headers -> headers.path("/evidence/"), "path");
        refused(headers -> headers.path("/assignment/"), "path");
        refused(headers -> headers.remove(StreamRequest.VERSION), "missing");
        refused(headers -> headers.set(StreamRequest.VERSION, "1"), "LOWEST-HIGHEST");
        refused(headers -> headers.set(StreamRequest.VERSION, "2-1"), "LOWEST-HIGHEST");
        refused(headers -> headers.set(StreamRequest.VERSION, "1-100000"), "LOWEST-HIGHEST");
        refused(headers -> headers.add(StreamRequest.VERSION, "1-1"), "twice");
        refused(headers -> headers.remove(StreamRequest.FROM), "missing");
        refused(headers -> headers.set(StreamRequest.FROM, "nobody"), "ID.ROLE.PROJECT");
        refused(headers -> headers.remove(StreamRequest.POLICY), "missing");
        refused(headers -> headers.set(StreamRequest.POLICY, "11"), "96");
    }

    @Test
    void versions_meet_at_the_highest_that_both_speak() {
        assertThat(new ProtocolVersions(1, 2).choose(new ProtocolVersions(2, 3)))
                .hasValue(2);
        assertThat(new ProtocolVersions(2, 3).choose(new ProtocolVersions(1, 2)))
                .hasValue(2);
        assertThat(new ProtocolVersions(1, 2).choose(new ProtocolVersions(1, 2)))
                .hasValue(2);
        assertThat(new ProtocolVersions(1, 1).choose(new ProtocolVersions(2, 3)))
                .isEmpty();
    }

    @Test
    void a_close_says_who_and_why_or_nothing() throws MalformedException {
        assertThat(CircuitClose.parse("relay idle")).isEqualTo(CircuitClose.byRelay(CloseReason.IDLE));
        for (String wrong : new String[] {"", "relay", "relay ", " idle", "nobody idle", "relay idle ", "relay IDLE"}) {
            assertThatThrownBy(() -> CircuitClose.parse(wrong)).isInstanceOf(MalformedException.class);
        }
    }
}
