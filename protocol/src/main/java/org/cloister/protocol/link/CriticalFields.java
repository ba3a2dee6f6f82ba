package org.cloister.protocol.link;

import java.util.List;
import org.cloister.base.encoding.MalformedException;

/** Checks a message's list of fields that its reader must understand; docs/protocol.md, section 2. */
public final class CriticalFields {
    private CriticalFields() {}

    /**
     * Checks that all critical fields are known.
     *
     * @param named the message's {@code critical}
     * @param highest highest number of the message's fields that this code knows; all lower ones are known
     */
    public static void require(List<Integer> named, int highest) throws MalformedException {
        for (int number : named) {
            if (number < 1 || number > highest) {
                throw new MalformedException("message: field " + Integer.toUnsignedString(number)
                        + " is critical and not known here; update this side");
            }
        }
    }
}
