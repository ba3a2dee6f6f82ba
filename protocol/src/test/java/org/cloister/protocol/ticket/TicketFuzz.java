package org.cloister.protocol.ticket;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;
import org.cloister.base.encoding.MalformedException;

/** Any bytes give a value that is written and read again as itself, or a refusal. The first byte chooses the parser. */
class TicketFuzz {
    private static final int PARSERS = 4;

    @FuzzTest(maxDuration = "60s")
    void reads_tickets_openings_withdrawals_and_allocations(byte[] input) {
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
            case 0 -> Ticket.parse(bytes);
            case 1 -> Withdrawal.parse(bytes);
            case 2 -> Opening.parse(bytes);
            default -> Allocation.parse(bytes);
        };
    }

    private static byte[] written(int parser, byte[] bytes) throws MalformedException {
        return switch (parser) {
            case 0 -> Ticket.parse(bytes).payload();
            case 1 -> Withdrawal.parse(bytes).payload();
            case 2 -> Opening.parse(bytes).payload();
            default -> Allocation.parse(bytes).payload();
        };
    }
}
