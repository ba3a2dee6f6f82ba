package org.cloister.host.ledger;

import java.nio.file.Path;

/** A process that claims one VM after the other, and says of each that it has; for a test that kills it. */
final class LedgerProgram {
    private LedgerProgram() {}

    public static void main(String[] args) throws Exception {
        try (Ledger ledger = Ledger.open(Path.of(args[0]))) {
            for (int i = Integer.parseInt(args[1]); i < 4000; i++) {
                ledger.claim(Entry.claim(Owners.owner(i), true, i));
                System.out.println(Owners.owner(i).uuid());
            }
        }
    }
}
