package org.cloister.host.ledger;

/**
 * A thing that looks like ours and is nobody's: it stays as it is, for people to look at.
 *
 * @param why subject to what it is, for people
 */
public record Stray(Part part, String name, String why) {
    @Override
    public String toString() {
        return part + " " + name + ": " + why;
    }
}
