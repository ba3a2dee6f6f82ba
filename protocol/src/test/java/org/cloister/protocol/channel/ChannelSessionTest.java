package org.cloister.protocol.channel;

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
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.LinkLimits;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Sessions over a real character device and a real socket, with ends that are killed, wrong, slow or greedy. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class ChannelSessionTest {
    private static final Name WORKER = new Name("w1", "worker", "a");
    private static final byte[] RUBBISH = new byte[1 << 16];

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final Events host = new Events();
    private final Events vm = new Events();
    private final BlockingQueue<String> log = new LinkedBlockingQueue<>();
    private final Authority site;

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
        site = Authority.ofSite(
                SubjectKey.of(key.verificationKey()), key::sign, Instant.now(), Duration.ofDays(9), new SecureRandom());
    }

    private byte[] list(int number) throws IOException {
        return site.revoke(List.of(), BigInteger.valueOf(number), Instant.now(), Duration.ofHours(24));
    }

    private Forwarding forwarding() {
        Name name = new Name("n1", "host", "site");
        return new Forwarding(name, host);
    }

    private VmPort hostSide(Forwarding forwarding) {
        return forwarding.open(loops.next(), pipe.socket(), Set.of(WORKER), new PortEvents() {
            @Override
            public void began() {
                log.add("session");
            }
        });
    }

    private AgentLink vmSide() {
        PortDialler dialler = new PortDialler(loops.next(), pipe.device());
        Beliefs beliefs = new Beliefs(
                Anchors.none().withSite(List.of(site.key())), RevocationLists.none(), InstantSource.system());
        return new AgentLink(loops.next(), dialler, "a test's VM", beliefs, vm, new Random(1));
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
        Forwarding forwarding = forwarding();
        byte[] first = list(1);
        byte[] second = list(2);
        forwarding.revoked(first);
        try (VmPort port = hostSide(forwarding);
                AgentLink link = vmSide()) {
            Attachment attachment = Events.next(vm.attachments);
            assertThat(Events.next(vm.revocations)).isEqualTo(ByteString.copyFrom(first));
            assertThat(Events.next(log)).isEqualTo("session");
            attachment.serve(new Name("w2", "worker", "a"));
            assertThat(Events.next(vm.served)).isEqualTo(Optional.of(CloseReason.NOT_ALLOWED));
            assertThat(forwarding.revoked(second)).isTrue();
            assertThat(Events.next(vm.revocations)).isEqualTo(ByteString.copyFrom(second));
            assertThat(link).isNotNull();
            assertThat(port.names()).containsExactly(WORKER);
        }
    }

    @Test
    void either_side_is_replaced_in_the_middle_and_a_new_session_begins() throws Exception {
        VmPort port = hostSide(forwarding());
        AgentLink link = vmSide();
        Events.next(vm.attachments);
        // The host's process goes, its successor knows nothing of it.
        port.close();
        port = hostSide(forwarding());
        Events.next(vm.losses);
        Events.next(vm.attachments);
        // The VM's goes.
        link.close();
        link = vmSide();
        Events.next(vm.attachments);
        // The connection alone goes.
        pipe.hangUp();
        Events.next(vm.attachments);
        link.close();
        port.close();
    }

    @Test
    void a_vm_that_is_to_end_hears_it_in_each_session_with_what_is_left_of_its_time() throws Exception {
        Forwarding forwarding = forwarding();
        forwarding.revoked(list(1));
        Duration time = Duration.ofMinutes(10);
        try (VmPort port = hostSide(forwarding);
                AgentLink link = vmSide()) {
            Events.next(vm.attachments);
            port.leave(time);
            port.leave(Duration.ofMinutes(20));
            Duration first = Events.next(vm.leaves);
            assertThat(first).isBetween(time.minusMinutes(1), time);
            pipe.hangUp();
            Events.next(vm.attachments);
            assertThat(Events.next(vm.leaves)).isLessThan(first);
            assertThat(vm.leaves).isEmpty();
            assertThat(link).isNotNull();
        }
        try (VmPort port = hostSide(forwarding)) {
            // Before its agent is there.
            port.leave(Duration.ZERO);
            try (AgentLink link = vmSide()) {
                Events.next(vm.attachments);
                assertThat(Events.next(vm.leaves)).isZero();
                assertThat(link).isNotNull();
            }
        }
    }

    @Test
    void remains_of_sessions_torn_marks_and_a_byte_at_a_time_are_dropped() throws Exception {
        byte[] mark = new byte[MarkRecord.MARK_BYTES];
        Arrays.fill(mark, (byte) 0x44);
        try (SocketChannel before = raw()) {
            byte[] remains = new byte[3000];
            new Random(3).nextBytes(remains);
            byte[] stale = MarkRecord.bytes(mark, mark);
            write(before, remains, stale, Arrays.copyOf(stale, 23));
            for (byte each : stale) {
                write(before, new byte[] {each});
            }
        }
        try (VmPort port = hostSide(forwarding());
                AgentLink link = vmSide()) {
            Events.next(vm.attachments);
            assertThat(port.names()).contains(WORKER);
            assertThat(link).isNotNull();
        }
    }

    @Test
    void the_bytes_of_an_old_session_played_again_start_nothing_and_end_the_one_they_hit() throws Exception {
        ByteArrayOutputStream recorded = new ByteArrayOutputStream();
        AgentLink link = vmSide();
        byte[] mark = new byte[MarkRecord.MARK_BYTES];
        Arrays.fill(mark, (byte) 0x44);
        try (SocketChannel first = raw()) {
            // As a host would: hear the mark, answer it, and let HTTP/2 begin.
            byte[] theirs = hearMark(first);
            recorded.writeBytes(MarkRecord.bytes(mark, theirs));
            recorded.writeBytes(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0});
            write(first, recorded.toByteArray());
            assertThat(hears(first, "PRI * HTTP/2.0")).isTrue();
        }
        try (SocketChannel second = raw()) {
            // In the session that is open these are no frames, and the VM opens anew; then they are of another mark.
            write(second, MarkRecord.interruption(), recorded.toByteArray());
            Events.next(vm.losses);
            hearMark(second);
            write(second, recorded.toByteArray(), recorded.toByteArray());
            assertThat(vm.attachments).isEmpty();
        }
        try (VmPort port = hostSide(forwarding())) {
            Events.next(vm.attachments);
            assertThat(port.names()).contains(WORKER);
        }
        link.close();
    }

    private static byte[] hearMark(SocketChannel from) throws IOException {
        ByteArrayOutputStream heard = new ByteArrayOutputStream();
        ByteBuffer one = ByteBuffer.allocate(1);
        while (from.read(one.clear()) > 0) {
            heard.write(one.get(0));
            byte[] all = heard.toByteArray();
            int begin = all.length - MarkRecord.BYTES;
            if (begin >= 0
                    && Arrays.equals(all, begin, begin + 8, MarkRecord.MAGIC, 0, 8)
                    && Arrays.equals(all, begin + 24, all.length, new byte[16], 0, 16)) {
                return Arrays.copyOfRange(all, begin + 8, begin + 24);
            }
        }
        throw new AssertionError("no mark");
    }

    private static boolean hears(SocketChannel from, String text) throws IOException {
        ByteArrayOutputStream heard = new ByteArrayOutputStream();
        ByteBuffer one = ByteBuffer.allocate(1);
        while (from.read(one.clear()) > 0) {
            heard.write(one.get(0));
            if (heard.toString(java.nio.charset.StandardCharsets.ISO_8859_1).endsWith(text)) {
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
            while (vm.losses.isEmpty() && sent < 4L * LinkLimits.MARK_DROPPED_BYTES) {
                write(flood, RUBBISH);
                sent += RUBBISH.length;
            }
            assertThat(Events.next(vm.losses)).contains("does not speak this protocol");
        }
        try (VmPort port = hostSide(forwarding())) {
            Events.next(vm.attachments);
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
            byte[] marks = new byte[1000 * MarkRecord.BYTES];
            long sent = 0;
            while (vm.losses.isEmpty() && sent < 4L * LinkLimits.MARK_DROPPED_BYTES) {
                for (int i = 0; i < 1000; i++) {
                    byte[] mark = new byte[MarkRecord.MARK_BYTES];
                    random.nextBytes(mark);
                    System.arraycopy(
                            MarkRecord.bytes(mark, new byte[16]), 0, marks, i * MarkRecord.BYTES, MarkRecord.BYTES);
                }
                write(flood, marks);
                sent += marks.length;
            }
            assertThat(Events.next(vm.losses)).contains("does not speak this protocol");
        }
        link.close();
    }

    @Test
    void a_file_that_is_no_device_is_refused_and_not_made() throws Exception {
        Path missing = folder.resolve("missing");
        PortDialler dialler = new PortDialler(loops.next(), missing);
        assertThat(dialler.dial().awaitUninterruptibly().cause()).isInstanceOf(IOException.class);
        assertThat(missing).doesNotExist();
        PortDialler ordinary = new PortDialler(loops.next(), folder.resolve("name"));
        assertThat(ordinary.dial().awaitUninterruptibly().cause()).hasMessageContaining("want a character device");
    }
}
