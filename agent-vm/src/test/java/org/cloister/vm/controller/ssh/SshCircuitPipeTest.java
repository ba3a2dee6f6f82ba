package org.cloister.vm.controller.ssh;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.transport.circuit.CircuitPair;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.controller.unlock.ControllerUnlockFixture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
@SuppressWarnings("FutureReturnValueIgnored") // what is not written is not taken
class SshCircuitPipeTest {
    /** What one read of the circuit may bring: some records of TLS. */
    private static final int BOUND = 16 * 16 * 1024;

    private static final int PIECES = 256;
    private static final int PIECE_BYTES = 64 * 1024;

    /** Takes nothing before it is told to. */
    private static final class SlowStream extends OutputStream {
        final CountDownLatch may = new CountDownLatch(1);
        final CompletableFuture<Long> closed = new CompletableFuture<>();
        private long taken;

        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            try {
                may.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            taken += length;
        }

        @Override
        public void close() {
            closed.complete(taken);
        }
    }

    @Test
    void what_a_slow_program_does_not_take_stays_with_the_sender_and_comes_whole_in_the_end() throws Exception {
        ControllerUnlockFixture opening = new ControllerUnlockFixture();
        String project = opening.made.history().id();
        ExecutorService threads = Executors.newCachedThreadPool();
        SlowStream program = new SlowStream();
        PipedOutputStream says = new PipedOutputStream();
        InputStream sshdOutput = new PipedInputStream(says);
        CompletableFuture<SshCircuitPipe> made = new CompletableFuture<>();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        try (CircuitPair circuits = new CircuitPair()) {
            var trustStore = opening.createTrustStore();
            TlsCredential own = TlsCredential.of(
                    opening.keys.signing(),
                    opening.unlocked()
                            .authority()
                            .issue(
                                    opening.controller,
                                    opening.keys.publicKeys().signing(),
                                    ControllerUnlockFixture.NOW));
            CertificateName ada = new CertificateName("ada7", CertificateRole.MEMBER.toString(), project);
            var ends = circuits.open(
                    new CircuitTerms(ada, opening.controller, Digest.sha384("policy")),
                    new CircuitPair.End(
                            member(opening, ada),
                            CertifiedPeerVerifier.forCircuitEnds(trustStore).only(opening.controller),
                            (pipeline, circuit) -> pipeline.addLast(new ChannelInboundHandlerAdapter())),
                    new CircuitPair.End(
                            own,
                            CertifiedPeerVerifier.forCircuitEnds(trustStore).only(ada),
                            (pipeline, circuit) -> {
                                SshCircuitPipe splice = new SshCircuitPipe(circuit, threads, () -> {
                                    ended.complete(null);
                                    made.join().release();
                                });
                                pipeline.addLast(splice);
                                made.complete(splice);
                            }));
            SshCircuitPipe splice = made.get(20, TimeUnit.SECONDS);
            ends.target().channel().eventLoop().execute(() -> splice.start(sshdOutput, program));
            for (int i = 0; i < PIECES; i++) {
                ends.opener().channel().writeAndFlush(Unpooled.wrappedBuffer(new byte[PIECE_BYTES]));
            }
            ends.opener().shutdownOutput();
            assertThat(mostWaiting(splice)).isBetween(1, BOUND);
            assertThat(ends.target().channel().config().isAutoRead()).isFalse();
            program.may.countDown();
            assertThat(program.closed.get(60, TimeUnit.SECONDS)).isEqualTo((long) PIECES * PIECE_BYTES);
            assertThat(ended).as("before it hears that there is no more").isDone();
            assertThat(ends.target().channel().isActive())
                    .as("the other direction goes on")
                    .isTrue();
            says.close();
            ends.target().channel().closeFuture().get(20, TimeUnit.SECONDS);
        } finally {
            threads.shutdownNow();
            opening.keys.close();
        }
    }

    /** Of one second's looks. */
    private static int mostWaiting(SshCircuitPipe splice) throws Exception {
        int most = 0;
        for (int i = 0; i < 40; i++) {
            Thread.sleep(25);
            most = Math.max(
                    most,
                    splice.circuit()
                            .channel()
                            .eventLoop()
                            .submit(splice::bufferedBytes)
                            .get());
        }
        return most;
    }

    private static TlsCredential member(ControllerUnlockFixture opening, CertificateName ada) throws Exception {
        SigningKey key = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
        CertificateAuthority owner = CertificateAuthority.ofProject(
                ada.project(),
                SubjectPublicKey.of(opening.made.owner().verificationKey()),
                opening.made.owner()::sign,
                ControllerUnlockFixture.NOW,
                Duration.ofDays(300),
                new SecureRandom());
        byte[] person = owner.certifyPerson(
                ada.id(),
                Set.of(CertificateRole.MEMBER),
                SubjectPublicKey.of(key.verificationKey()),
                ControllerUnlockFixture.NOW,
                Duration.ofDays(31));
        KeyPair pair = BootFixture.pair(SignatureCurve.P384);
        byte[] leaf = CertificateAuthority.load(person, key::sign, new SecureRandom())
                .issue(
                        ada,
                        SubjectPublicKey.of(SigningKey.of(pair).verificationKey()),
                        ControllerUnlockFixture.NOW,
                        Duration.ofHours(12));
        return TlsCredential.of(pair.getPrivate(), List.of(leaf, person));
    }
}
