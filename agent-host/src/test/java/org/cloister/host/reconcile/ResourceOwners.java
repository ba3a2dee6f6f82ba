package org.cloister.host.reconcile;

import org.cloister.host.vm.ResourceOwner;

/** Owners for tests, each different from the others in all that names are made of. */
public final class ResourceOwners {
    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

    private ResourceOwners() {}

    /** @param number from 0 to 32,767 */
    public static ResourceOwner owner(int number) {
        String three = "" + letter(number) + letter(number / 32) + letter(number / 1024);
        return new ResourceOwner(
                "p".repeat(51) + "a",
                three + "cdefghijklmnopqrstuvwxy",
                number % 3,
                100L + number,
                String.format("%08x-0000-4000-8000-000000000000", number));
    }

    /** As a second life of the same place. */
    public static ResourceOwner again(ResourceOwner owner) {
        return new ResourceOwner(
                owner.project(),
                owner.ticket(),
                owner.slot(),
                owner.globalJob(),
                "ffffffff" + owner.uuid().substring(8));
    }

    private static char letter(int number) {
        return LETTERS.charAt(number % 32);
    }
}
