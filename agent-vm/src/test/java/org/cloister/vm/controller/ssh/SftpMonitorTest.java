package org.cloister.vm.controller.ssh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.junit.jupiter.api.Test;

class SftpMonitorTest {
    private final List<String> received = new ArrayList<>();
    private boolean fails;
    private final SftpMonitor watch = new SftpMonitor(new SftpMonitor.FileListener() {
        @Override
        public void onOpen(byte[] path) throws IOException {
            if (fails) {
                throw new IOException("test");
            }
            received.add("open " + new String(path, StandardCharsets.UTF_8));
        }

        @Override
        public void onSent(byte[] path, long bytes) {
            received.add("sent " + new String(path, StandardCharsets.UTF_8) + " " + bytes);
        }
    });

    private static byte[] packet(int type, int id, byte[]... strings) {
        ByteBuffer packet = ByteBuffer.allocate(1000).putInt(0).put((byte) type).putInt(id);
        for (byte[] each : strings) {
            packet.putInt(each.length).put(each);
        }
        packet.putInt(0, packet.position() - Integer.BYTES);
        return Arrays.copyOf(packet.array(), packet.position());
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private byte[] request(byte[] packet) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        watch.relayRequests(new ByteArrayInputStream(packet), out);
        return out.toByteArray();
    }

    private void answers(byte[]... packets) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] each : packets) {
            all.writeBytes(each);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        watch.relayResponses(new ByteArrayInputStream(all.toByteArray()), out);
        assertThat(out.toByteArray()).isEqualTo(all.toByteArray());
    }

    @Test
    void what_is_read_is_told_with_its_bytes_though_nobody_closes_it() throws IOException {
        byte[] open = packet(3, 1, text("/data"));
        assertThat(request(open)).isEqualTo(open);
        assertThat(received).containsExactly("open /data");
        request(packet(5, 2, text("h")));
        answers(packet(102, 1, text("h")), packet(103, 2, text("12345")), packet(101, 9));
        assertThat(received).containsExactly("open /data", "sent /data 5");
    }

    @Test
    void what_was_asked_for_before_a_close_counts_though_it_comes_after_the_request() throws IOException {
        request(packet(3, 1, text("/data")));
        for (byte[] each : List.of(
                packet(5, 2, text("h")),
                packet(5, 3, text("h")),
                packet(4, 4, text("h")),
                packet(3, 5, text("/other")),
                packet(5, 6, text("h")))) {
            request(each);
        }
        answers(
                packet(102, 1, text("h")),
                packet(103, 2, text("12345")),
                packet(103, 3, text("678")),
                packet(101, 4),
                packet(102, 5, text("h")),
                packet(103, 6, text("90")));
        assertThat(received).containsExactly("open /data", "open /other", "sent /data 8", "sent /other 2");
    }

    @Test
    void a_second_request_of_an_id_hides_no_answer_to_the_first() throws IOException {
        request(packet(5, 2, text("h")));
        assertThatThrownBy(() -> request(packet(17, 2, text("/data"))))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("two of 2");
        answers(packet(103, 2, text("12345")));
        request(packet(17, 2, text("/data")));
    }

    @Test
    void what_is_not_recorded_does_not_reach_the_server() {
        fails = true;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertThatThrownBy(() -> watch.relayRequests(new ByteArrayInputStream(packet(3, 1, text("/data"))), out))
                .isInstanceOf(IOException.class);
        assertThat(out.size()).isZero();
    }

    @Test
    void a_packet_that_is_none_ends_the_session() {
        for (byte[] bad : List.of(
                new byte[] {0, 0, 0, 0},
                new byte[] {0, 5, 0, 0, 1},
                new byte[] {-1, -1, -1, -1},
                new byte[] {0, 0, 0, 9, 1},
                new byte[] {0, 0, 0, 3, 3, 0, 0},
                new byte[] {0, 0, 0, 9, 3, 0, 0, 0, 1, 0, 0, 0, 9},
                new byte[] {0, 0, 0, 9, 3, 0, 0, 0, 1, -1, 0, 0, 9})) {
            assertThatThrownBy(() -> request(bad)).isInstanceOf(MalformedException.class);
        }
        assertThat(received).isEmpty();
    }
}
