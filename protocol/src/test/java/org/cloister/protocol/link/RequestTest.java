package org.cloister.protocol.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.http2.Http2Headers;
import java.security.SecureRandom;
import java.util.function.Consumer;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.identity.Name;
import org.junit.jupiter.api.Test;

class RequestTest {
    private static final Request.Circuit CIRCUIT = new Request.Circuit(
            Versions.OURS, new Name("c", "controller", "p"), new Name("a", "member", "p"), Digest.sha384("policy"));

    @Test
    void reads_back_what_it_writes() throws MalformedException {
        for (Request request : new Request[] {
            CIRCUIT,
            new Request.Attach(new Versions(2, 3)),
            new Request.Evidence(Versions.OURS),
            new Request.Assignment(Versions.OURS),
            new Request.DialBack(Versions.OURS, Token.random(new SecureRandom()))
        }) {
            assertThat(Request.parse(request.headers())).isEqualTo(request);
        }
    }

    private static void refused(Consumer<Http2Headers> change, String why) {
        Http2Headers headers = CIRCUIT.headers();
        change.accept(headers);
        assertThatThrownBy(() -> Request.parse(headers))
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
        refused(headers -> headers.remove(Request.VERSION), "missing");
        refused(headers -> headers.set(Request.VERSION, "1"), "LOWEST-HIGHEST");
        refused(headers -> headers.set(Request.VERSION, "2-1"), "LOWEST-HIGHEST");
        refused(headers -> headers.set(Request.VERSION, "1-100000"), "LOWEST-HIGHEST");
        refused(headers -> headers.add(Request.VERSION, "1-1"), "twice");
        refused(headers -> headers.remove(Request.FROM), "missing");
        refused(headers -> headers.set(Request.FROM, "nobody"), "ID.ROLE.PROJECT");
        refused(headers -> headers.remove(Request.POLICY), "missing");
        refused(headers -> headers.set(Request.POLICY, "11"), "96");
    }

    @Test
    void versions_meet_at_the_highest_that_both_speak() {
        assertThat(new Versions(1, 2).choose(new Versions(2, 3))).hasValue(2);
        assertThat(new Versions(2, 3).choose(new Versions(1, 2))).hasValue(2);
        assertThat(new Versions(1, 2).choose(new Versions(1, 2))).hasValue(2);
        assertThat(new Versions(1, 1).choose(new Versions(2, 3))).isEmpty();
    }

    @Test
    void a_close_says_who_and_why_or_nothing() throws MalformedException {
        assertThat(Close.parse("relay idle")).isEqualTo(Close.byRelay(CloseReason.IDLE));
        for (String wrong : new String[] {"", "relay", "relay ", " idle", "nobody idle", "relay idle ", "relay IDLE"}) {
            assertThatThrownBy(() -> Close.parse(wrong)).isInstanceOf(MalformedException.class);
        }
    }
}
