package org.cloister.protocol.receipt;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;
import org.cloister.base.encoding.MalformedException;

/** Any bytes give a value that is written and read again as itself, or a refusal. The first byte chooses the parser. */
class ReceiptFuzz {
    private static final int PARSERS = 3;

    @FuzzTest(maxDuration = "60s")
    void reads_receipts_and_parts(byte[] input) {
        if (input.length == 0) {
            return;
        }
        int parser = Math.floorMod(input[0], PARSERS);
        byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
        try {
            if (!read(parser, written(parser, bytes)).equals(read(parser, bytes))) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }

    private static Object read(int parser, byte[] bytes) throws MalformedException {
        return switch (parser) {
            case 0 -> Receipt.parse(bytes);
            case 1 -> HostStatement.parse(bytes);
            default -> WorkerStatement.parse(bytes);
        };
    }

    private static byte[] written(int parser, byte[] bytes) throws MalformedException {
        return switch (parser) {
            case 0 -> Receipt.parse(bytes).payload();
            case 1 -> HostStatement.parse(bytes).payload();
            default -> WorkerStatement.parse(bytes).payload();
        };
    }
}
