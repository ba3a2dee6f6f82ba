package org.cloister.host.reconcile;

/**
 * Resource that looks like Cloister's and belongs to no known VM; it is never changed, and an operator must inspect it.
 *
 * @param reason why it counts as an orphan, for people
 */
public record OrphanResource(ResourceKind kind, String name, String reason) {
    @Override
    public String toString() {
        return kind + " " + name + ": " + reason;
    }
}
