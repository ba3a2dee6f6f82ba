package org.cloister.transport.circuit;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.transport.circuit.PathFault.Direction;
import org.cloister.transport.circuit.PathFault.Kind;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Effects of a path with one fault on a real circuit; the tests of conversations rely on them. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
class FaultyPathTest {
    private static final List<String> MESSAGES = List.of("one", "two", "three", "four");

    private final BootFixture world = new BootFixture();
    private final CircuitPair circuits = new CircuitPair();
    private final CircuitTerms terms = new CircuitTerms(world.worker, world.controller, Digest.sha384("policy"));
    private final CircuitPair.End opener = endpoint(world.worker, world.controller, new CopyOnWriteArrayList<>());
    private final List<String> received = new CopyOnWriteArrayList<>();
    private final CircuitPair.End target = endpoint(world.controller, world.worker, received);

    FaultyPathTest() throws Exception {}

    @AfterEach
    void close() {
        circuits.close();
    }

    private CircuitPair.End endpoint(CertificateName own, CertificateName other, List<String> received)
            throws Exception {
        KeyPair pair = world.boot;
        TlsCredential credential = TlsCredential.of(
                pair.getPrivate(),
                List.of(BootCertificate.make(
                        own,
                        SubjectPublicKey.parse(pair.getPublic().getEncoded()),
                        CertificateSigner.of(pair.getPrivate()),
                        BootFixture.NOW,
                        new SecureRandom())));
        return new CircuitPair.End(
                credential,
                BootPeerVerifier.forBootingVm().only(other),
                (pipeline, circuit) -> pipeline.addLast(new RecordingEnd(received)));
    }

    private static final class RecordingEnd extends SimpleChannelInboundHandler<ByteBuf> {
        private final List<String> received;

        RecordingEnd(List<String> received) {
            this.received = received;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf bytes) {
            received.add(bytes.toString(StandardCharsets.US_ASCII));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** @return how many records the target got before a word */
    private int sendAll(FaultyPath path, boolean ends) throws Exception {
        received.clear();
        CircuitPair.Ends circuit = circuits.open(terms, opener, target, path);
        int opened = path.records(Direction.TO_TARGET);
        for (String word : MESSAGES) {
            circuit.opener()
                    .channel()
                    .writeAndFlush(Unpooled.copiedBuffer(word, StandardCharsets.US_ASCII))
                    .await(20, TimeUnit.SECONDS);
        }
        if (ends) {
            for (Circuit each : List.of(circuit.opener(), circuit.target())) {
                assertThat(each.channel().closeFuture().await(20, TimeUnit.SECONDS))
                        .as("the circuit ends at both ends")
                        .isTrue();
            }
        }
        return opened;
    }

    @Test
    void each_word_is_a_record_and_a_sound_path_loses_none() throws Exception {
        FaultyPath path = FaultyPath.sound();
        int before = sendAll(path, false);
        awaitHeard(MESSAGES.size());
        assertThat(received).isEqualTo(MESSAGES);
        assertThat(path.records(Direction.TO_TARGET)).isEqualTo(before + MESSAGES.size());
        assertThat(path.happened()).isFalse();
    }

    private void awaitHeard(int count) throws InterruptedException {
        for (int i = 0; i < 1000 && received.size() < count; i++) {
            Thread.sleep(10);
        }
    }

    @Test
    void each_kind_of_fault_lets_through_what_it_says_and_ends_both_ends() throws Exception {
        int before = sendAll(FaultyPath.sound(), false);
        awaitHeard(MESSAGES.size());
        List<String> happened = new ArrayList<>();
        for (int word = 0; word < MESSAGES.size(); word++) {
            for (Kind kind : Kind.values()) {
                FaultyPath path = new FaultyPath(Optional.of(new PathFault(Direction.TO_TARGET, before + word, kind)));
                sendAll(path, true);
                assertThat(path.happened()).isTrue();
                assertThat(received)
                        .as("%s of word %s", kind, word)
                        .isEqualTo(MESSAGES.subList(0, kind == Kind.CUT_AFTER ? word + 1 : word));
                happened.add(kind + " " + word);
            }
        }
        assertThat(happened).hasSameSizeAs(PathFault.all(MESSAGES.size(), 0));
    }
}
