package org.cloister.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sessions over a real character device and a real socket, with ends that are killed, wrong, slow or greedy. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class ChannelSessionTest {
    private static final CertificateName WORKER = new CertificateName("w1", "worker", "a");
    private static final byte[] RUBBISH = new byte[1 << 16];

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final RecordedChannelEvents host = new RecordedChannelEvents();
    private final RecordedChannelEvents vm = new RecordedChannelEvents();
    private final BlockingQueue<String> log = new LinkedBlockingQueue<>();
    private final CertificateAuthority site;

    @TempDir
    private Path folder;

    private PtyPort pipe;

    @BeforeEach
    void start() throws Exception {
        pipe = PtyPort.open(folder);
    }

    @AfterEach
    void stop() {
        pipe.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    ChannelSessionTest() throws IOException, GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        SigningKey key = SigningKey.of(generator.generateKeyPair());
        site = CertificateAuthority.ofSite(
                SubjectPublicKey.of(key.verificationKey()),
                key::sign,
                Instant.now(),
                Duration.ofDays(9),
                new SecureRandom());
    }

    private byte[] list(int number) throws IOException {
        return site.revoke(List.of(), BigInteger.valueOf(number), Instant.now(), Duration.ofHours(24));
    }

    private VmForwarder forwarding() {
        CertificateName name = new CertificateName("n1", "host", "site");
        return new VmForwarder(name, host);
    }

    private VmPort hostSide(VmForwarder forwarding) {
        return forwarding.open(loops.next(), pipe.socket(), Set.of(WORKER), new VmPortListener() {
            @Override
            public void onSessionOpened() {
                log.add("session");
            }
        });
    }

    private AgentLink vmSide() {
        HostPortDialler dialler = new HostPortDialler(loops.next(), pipe.device());
        TrustStore trustStore = new TrustStore(
                TrustAnchors.none().withSite(List.of(site.key())), RevocationLists.none(), InstantSource.system());
        return new AgentLink(loops.next(), dialler, "a test's VM", trustStore, vm, new Random(1));
    }

    private SocketChannel raw() throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(pipe.socket()));
    }

    private static void write(SocketChannel to, byte[]... pieces) throws IOException {
        for (byte[] piece : pieces) {
            ByteBuffer bytes = ByteBuffer.wrap(piece);
            while (bytes.hasRemaining()) {
                to.write(bytes);
            }
        }
    }

    private void discard(SocketChannel from) {
        Thread thread = new Thread(() -> {
            try {
                while (from.read(ByteBuffer.allocate(1 << 16)) >= 0) {
                    // on
                }
            } catch (IOException e) {
                // The test is over.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Test
    void a_vm_attaches_hears_the_revocations_and_serves_no_name_but_its_own() throws Exception {
        VmForwarder forwarding = forwarding();
        byte[] first = list(1);
        byte[] second = list(2);
        forwarding.onRevocationList(first);
        try (VmPort port = hostSide(forwarding);
                AgentLink link = vmSide()) {
            AgentAttachStream attachment = RecordedChannelEvents.next(vm.attachments);
            assertThat(RecordedChannelEvents.next(vm.revocations)).isEqualTo(ByteString.copyFrom(first));
            assertThat(RecordedChannelEvents.next(log)).isEqualTo("session");
            attachment.serve(new CertificateName("w2", "worker", "a"));
            assertThat(RecordedChannelEvents.next(vm.served)).isEqualTo(Optional.of(CloseReason.NOT_ALLOWED));
            assertThat(forwarding.onRevocationList(second)).isTrue();
            assertThat(RecordedChannelEvents.next(vm.revocations)).isEqualTo(ByteString.copyFrom(second));
            assertThat(link).isNotNull();
            assertThat(port.names()).containsExactly(WORKER);
        }
    }

    @Test
    void either_side_is_replaced_in_the_middle_and_a_new_session_begins() throws Exception {
        VmPort port = hostSide(forwarding());
        AgentLink link = vmSide();
        RecordedChannelEvents.next(vm.attachments);
        // The host's process goes, its successor knows nothing of it.
        port.close();
        port = hostSide(forwarding());
        RecordedChannelEvents.next(vm.losses);
        RecordedChannelEvents.next(vm.attachments);
        // The VM's goes.
        link.close();
        link = vmSide();
        RecordedChannelEvents.next(vm.attachments);
        // The connection alone goes.
        pipe.hangUp();
        RecordedChannelEvents.next(vm.attachments);
        link.close();
        port.close();
    }

    @Test
    void a_vm_that_is_to_end_hears_it_in_each_session_with_what_is_left_of_its_time() throws Exception {
        VmForwarder forwarding = forwarding();
        forwarding.onRevocationList(list(1));
        Duration time = Duration.ofMinutes(10);
        try (VmPort port = hostSide(forwarding);
                AgentLink link = vmSide()) {
            RecordedChannelEvents.next(vm.attachments);
            port.requestShutdown(time);
            port.requestShutdown(Duration.ofMinutes(20));
            Duration first = RecordedChannelEvents.next(vm.leaves);
            assertThat(first).isBetween(time.minusMinutes(1), time);
            pipe.hangUp();
            RecordedChannelEvents.next(vm.attachments);
            assertThat(RecordedChannelEvents.next(vm.leaves)).isLessThan(first);
            assertThat(vm.leaves).isEmpty();
            assertThat(link).isNotNull();
        }
        try (VmPort port = hostSide(forwarding)) {
            // Before its agent is there.
            port.requestShutdown(Duration.ZERO);
            try (AgentLink link = vmSide()) {
                RecordedChannelEvents.next(vm.attachments);
                assertThat(RecordedChannelEvents.next(vm.leaves)).isZero();
                assertThat(link).isNotNull();
            }
        }
    }

    @Test
    void remains_of_sessions_torn_marks_and_a_byte_at_a_time_are_dropped() throws Exception {
        byte[] mark = new byte[SessionMark.MARK_BYTES];
        Arrays.fill(mark, (byte) 0x44);
        try (SocketChannel before = raw()) {
            byte[] remains = new byte[3000];
            new Random(3).nextBytes(remains);
            byte[] stale = SessionMark.bytes(mark, mark);
            write(before, remains, stale, Arrays.copyOf(stale, 23));
            for (byte each : stale) {
                write(before, new byte[] {each});
            }
        }
        try (VmPort port = hostSide(forwarding());
                AgentLink link = vmSide()) {
            RecordedChannelEvents.next(vm.attachments);
            assertThat(port.names()).contains(WORKER);
            assertThat(link).isNotNull();
        }
    }

    @Test
    void the_bytes_of_an_old_session_played_again_start_nothing_and_end_the_one_they_hit() throws Exception {
        ByteArrayOutputStream recorded = new ByteArrayOutputStream();
        AgentLink link = vmSide();
        byte[] mark = new byte[SessionMark.MARK_BYTES];
        Arrays.fill(mark, (byte) 0x44);
        try (SocketChannel first = raw()) {
            // As a host would: hear the mark, answer it, and let HTTP/2 begin.
            byte[] theirs = receiveMark(first);
            recorded.writeBytes(SessionMark.bytes(mark, theirs));
            recorded.writeBytes(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0});
            write(first, recorded.toByteArray());
            assertThat(receives(first, "PRI * HTTP/2.0")).isTrue();
        }
        try (SocketChannel second = raw()) {
            // In the session that is open these are no frames, and the VM opens anew; then they are of another mark.
            write(second, SessionMark.interruption(), recorded.toByteArray());
            RecordedChannelEvents.next(vm.losses);
            receiveMark(second);
            write(second, recorded.toByteArray(), recorded.toByteArray());
            assertThat(vm.attachments).isEmpty();
        }
        try (VmPort port = hostSide(forwarding())) {
            RecordedChannelEvents.next(vm.attachments);
            assertThat(port.names()).contains(WORKER);
        }
        link.close();
    }

    private static byte[] receiveMark(SocketChannel from) throws IOException {
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        ByteBuffer one = ByteBuffer.allocate(1);
        while (from.read(one.clear()) > 0) {
            received.write(one.get(0));
            byte[] all = received.toByteArray();
            int begin = all.length - SessionMark.BYTES;
            if (begin >= 0
                    && Arrays.equals(all, begin, begin + 8, SessionMark.MAGIC, 0, 8)
                    && Arrays.equals(all, begin + 24, all.length, new byte[16], 0, 16)) {
                return Arrays.copyOfRange(all, begin + 8, begin + 24);
            }
        }
        throw new AssertionError("no mark");
    }

    private static boolean receives(SocketChannel from, String text) throws IOException {
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        ByteBuffer one = ByteBuffer.allocate(1);
        while (from.read(one.clear()) > 0) {
            received.write(one.get(0));
            if (received.toString(java.nio.charset.StandardCharsets.ISO_8859_1).endsWith(text)) {
                return true;
            }
        }
        return false;
    }

    @Test
    void a_flood_without_a_mark_fails_the_opening_and_the_next_one_is_good() throws Exception {
        AgentLink link = vmSide();
        try (SocketChannel flood = raw()) {
            discard(flood);
            long sent = 0;
            while (vm.losses.isEmpty() && sent < 4L * ProtocolLimits.MARK_DROPPED_BYTES) {
                write(flood, RUBBISH);
                sent += RUBBISH.length;
            }
            assertThat(RecordedChannelEvents.next(vm.losses)).contains("does not speak this protocol");
        }
        try (VmPort port = hostSide(forwarding())) {
            RecordedChannelEvents.next(vm.attachments);
            assertThat(port.names()).contains(WORKER);
        }
        link.close();
    }

    @Test
    void a_flood_of_marks_is_bounded_too() throws Exception {
        AgentLink link = vmSide();
        Random random = new Random(5);
        try (SocketChannel flood = raw()) {
            discard(flood);
            byte[] marks = new byte[1000 * SessionMark.BYTES];
            long sent = 0;
            while (vm.losses.isEmpty() && sent < 4L * ProtocolLimits.MARK_DROPPED_BYTES) {
                for (int i = 0; i < 1000; i++) {
                    byte[] mark = new byte[SessionMark.MARK_BYTES];
                    random.nextBytes(mark);
                    System.arraycopy(
                            SessionMark.bytes(mark, new byte[16]), 0, marks, i * SessionMark.BYTES, SessionMark.BYTES);
                }
                write(flood, marks);
                sent += marks.length;
            }
            assertThat(RecordedChannelEvents.next(vm.losses)).contains("does not speak this protocol");
        }
        link.close();
    }

    @Test
    void a_file_that_is_no_device_is_refused_and_not_made() throws Exception {
        Path missing = folder.resolve("missing");
        HostPortDialler dialler = new HostPortDialler(loops.next(), missing);
        assertThat(dialler.dial().awaitUninterruptibly().cause()).isInstanceOf(IOException.class);
        assertThat(missing).doesNotExist();
        HostPortDialler ordinary = new HostPortDialler(loops.next(), folder.resolve("name"));
        assertThat(ordinary.dial().awaitUninterruptibly().cause()).hasMessageContaining("want a character device");
    }
}
