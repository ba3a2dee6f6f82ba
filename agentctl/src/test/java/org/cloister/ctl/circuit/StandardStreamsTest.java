package org.cloister.ctl.circuit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.circuit.CircuitPair;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@SuppressWarnings("FutureReturnValueIgnored") // what is not done shows as a failed test
class StandardStreamsTest {
    private final BootFixture world = new BootFixture();

    StandardStreamsTest() throws Exception {}

    /** A program that reads nothing before it is told to. */
    private static final class Slow extends OutputStream {
        final CountDownLatch readStarted = new CountDownLatch(1);
        final CountDownLatch may = new CountDownLatch(1);

        @Override
        public void write(int one) throws IOException {
            readStarted.countDown();
            try {
                may.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }
    }

    private CircuitPair.End endpoint(CertificateName own, CertificateName other, Circuit.Application application)
            throws Exception {
        KeyPair pair = world.boot;
        byte[] certificate = BootCertificate.make(
                own,
                SubjectPublicKey.parse(pair.getPublic().getEncoded()),
                CertificateSigner.of(pair.getPrivate()),
                BootFixture.NOW,
                new SecureRandom());
        return new CircuitPair.End(
                TlsCredential.of(pair.getPrivate(), List.of(certificate)),
                BootPeerVerifier.forBootingVm().only(other),
                application);
    }

    @Test
    void input_after_a_circuits_end_does_not_hide_why_it_ended() throws Exception {
        Slow out = new Slow();
        PipedOutputStream typed = new PipedOutputStream();
        StandardStreams streams = new StandardStreams(new PipedInputStream(typed), out);
        try (CircuitPair circuits = new CircuitPair()) {
            CircuitPair.Ends ends = circuits.open(
                    new CircuitTerms(world.worker, world.controller, Digest.sha384("policy")),
                    endpoint(world.worker, world.controller, streams),
                    endpoint(
                            world.controller,
                            world.worker,
                            (pipeline, circuit) -> pipeline.addLast(new ChannelInboundHandlerAdapter())));
            ends.target().channel().writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
            assertThat(out.readStarted.await(20, TimeUnit.SECONDS)).isTrue();
            ends.target().close(CloseReason.DRAINING);
            ends.opener().channel().closeFuture().sync();
            typed.write(1);
            typed.close();
            // Until the thread that sends it has ended.
            while (Thread.getAllStackTraces().values().stream().anyMatch(StandardStreamsTest::sends)) {
                Thread.sleep(5);
            }
            out.may.countDown();
            assertThatThrownBy(streams::awaitEnd)
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("circuit from ")
                    .hasMessageEndingWith(": relay lost");
        }
    }

    private static boolean sends(StackTraceElement[] stack) {
        return Arrays.stream(stack)
                .anyMatch(each -> each.getClassName().equals(StandardStreams.class.getName())
                        && each.getMethodName().equals("send"));
    }
}
