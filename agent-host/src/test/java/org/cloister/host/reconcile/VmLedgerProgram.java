package org.cloister.host.reconcile;

import java.nio.file.Path;

/** A process that claims one VM after the other, and says of each that it has; for a test that kills it. */
final class VmLedgerProgram {
    private VmLedgerProgram() {}

    public static void main(String[] args) throws Exception {
        try (VmLedger ledger = VmLedger.open(Path.of(args[0]))) {
            for (int i = Integer.parseInt(args[1]); i < 4000; i++) {
                ledger.claim(VmLedgerEntry.claim(ResourceOwners.owner(i), true, i));
                System.out.println(ResourceOwners.owner(i).uuid());
            }
        }
    }
}
