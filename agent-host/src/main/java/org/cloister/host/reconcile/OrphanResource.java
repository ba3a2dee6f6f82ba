package org.cloister.host.reconcile;

/**
 * A thing that looks like ours and is nobody's: it stays as it is, for people to look at.
 *
 * @param reason subject to what it is, for people
 */
public record OrphanResource(ResourceKind kind, String name, String reason) {
    @Override
    public String toString() {
        return kind + " " + name + ": " + reason;
    }
}
