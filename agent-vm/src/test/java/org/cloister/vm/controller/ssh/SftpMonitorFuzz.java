package org.cloister.vm.controller.ssh;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.cloister.base.encoding.MalformedException;

/**
 * Fuzzes the monitor with bytes of either side: they are forwarded unchanged or end the session, and no file is opened,
 * and no byte of one sent, that was not reported before. The input is the client's bytes, the length of which stands in
 * two bytes before them, and the server's.
 */
class SftpMonitorFuzz {
    private static final int OPEN = 3;
    private static final int DATA = 103;
    private static final int LENGTH = 4;

    @FuzzTest(maxDuration = "60s")
    void what_passes_is_told_and_goes_on_as_it_is(byte[] input) throws IOException {
        if (input.length < 2) {
            return;
        }
        int length = Math.min(input.length - 2, ByteBuffer.wrap(input).getShort() & 0xffff);
        byte[] client = Arrays.copyOfRange(input, 2, 2 + length);
        byte[] server = Arrays.copyOfRange(input, 2 + length, input.length);
        List<byte[]> opened = new ArrayList<>();
        long[] sent = new long[1];
        SftpMonitor watch = new SftpMonitor(new SftpMonitor.FileListener() {
            @Override
            public void onOpen(byte[] path) {
                opened.add(path);
            }

            @Override
            public void onSent(byte[] path, long bytes) {
                require(opened.stream().anyMatch(each -> Arrays.equals(each, path)) && bytes >= 0);
                sent[0] += bytes;
            }
        });
        ByteArrayOutputStream toServer = new ByteArrayOutputStream();
        ByteArrayOutputStream toClient = new ByteArrayOutputStream();
        pass(() -> watch.relayRequests(new ByteArrayInputStream(client), toServer), client, toServer);
        pass(() -> watch.relayResponses(new ByteArrayInputStream(server), toClient), server, toClient);
        require(opened.size() >= count(toServer.toByteArray(), OPEN));
        require(sent[0] == 0 || (!opened.isEmpty() && count(toClient.toByteArray(), DATA) > 0));
    }

    private interface Transmission {
        void run() throws IOException;
    }

    private static void pass(Transmission passing, byte[] from, ByteArrayOutputStream to) throws IOException {
        boolean whole = false;
        try {
            passing.run();
            whole = true;
        } catch (MalformedException e) {
            require(e.getMessage() != null);
        }
        byte[] passed = to.toByteArray();
        require(passed.length <= from.length && Arrays.equals(passed, Arrays.copyOf(from, passed.length)));
        // Less than a length of a packet is the end.
        require(!whole || from.length - passed.length < LENGTH);
    }

    /** Packets of a kind, of bytes that are packets. */
    private static int count(byte[] packets, int kind) {
        int count = 0;
        ByteBuffer rest = ByteBuffer.wrap(packets);
        while (rest.hasRemaining()) {
            byte[] packet = new byte[rest.getInt()];
            rest.get(packet);
            count += packet[0] == kind ? 1 : 0;
        }
        return count;
    }

    private static void require(boolean holds) {
        if (!holds) {
            throw new IllegalStateException("passed what was not told, or told what was not passed");
        }
    }
}
