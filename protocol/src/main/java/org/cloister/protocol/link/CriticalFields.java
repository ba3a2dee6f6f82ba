package org.cloister.protocol.link;

import java.util.List;
import org.cloister.base.encoding.MalformedException;

/** A message's list of fields that its reader must know; docs/protocol.md, section 2. */
public final class CriticalFields {
    private CriticalFields() {}

    /**
     * @param named the message's {@code critical}
     * @param highest number of the message that this code knows; all below it are known
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
