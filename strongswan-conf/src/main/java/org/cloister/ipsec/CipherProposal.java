package org.cloister.ipsec;

import java.util.List;
import java.util.Set;
import org.cloister.ipsec.vici.IpsecException.PlanRefused;
import org.jspecify.annotations.Nullable;

/**
 * A proposal of algorithms in strongSwan's notation, one of each kind, such as {@code aes256gcm16-prfsha384-ecp384}.
 */
public final class CipherProposal {
    /** The proposal that two ends of a project use. */
    public static final CipherProposal IKE = new CipherProposal("aes256gcm16-prfsha384-ecp384");

    public static final CipherProposal ESP = new CipherProposal("aes256gcm16-ecp384");

    /** Algorithms of 192 bits and more that FIPS modules have too. A proposal of these needs no policy. */
    private static final Kinds STRONG =
            new Kinds(Set.of("aes256gcm16"), Set.of("prfsha384", "prfsha512"), Set.of("ecp384", "ecp521"));

    /**
     * Algorithms that other implementations may need: known, but weaker or not available everywhere, so the policy must
     * name them.
     */
    private static final Kinds KNOWN = new Kinds(
            Set.of("aes128gcm16", "aes192gcm16", "chacha20poly1305"),
            Set.of("prfsha256"),
            Set.of("ecp256", "curve25519", "modp3072", "modp4096"));

    private final String text;

    private record Kinds(Set<String> ciphers, Set<String> functions, Set<String> groups) {
        boolean contains(String word) {
            return ciphers.contains(word) || functions.contains(word) || groups.contains(word);
        }
    }

    private CipherProposal(String text) {
        this.text = text;
    }

    /** @param allowed weaker algorithms that the policy names */
    public static CipherProposal ike(String text, Set<String> allowed) throws PlanRefused {
        return of(text, allowed, 3);
    }

    /** Parses an ESP proposal. It has no PRF; the key exchange gives each rekeying forward secrecy. */
    public static CipherProposal esp(String text, Set<String> allowed) throws PlanRefused {
        return of(text, allowed, 2);
    }

    private static CipherProposal of(String text, Set<String> allowed, int count) throws PlanRefused {
        List<String> words = List.of(text.split("-", -1));
        for (String word : words) {
            if (!STRONG.contains(word) && !KNOWN.contains(word)) {
                throw new PlanRefused("proposal " + text, "known algorithms", word, "use " + (count == 3 ? IKE : ESP));
            }
            if (!STRONG.contains(word) && !allowed.contains(word)) {
                throw new PlanRefused(
                        "proposal " + text,
                        "algorithms that the policy names",
                        word,
                        "use " + (count == 3 ? IKE : ESP) + ", or let the policy name it");
            }
        }
        boolean complete = words.size() == count
                && (STRONG.ciphers.contains(words.get(0)) || KNOWN.ciphers.contains(words.get(0)))
                && (STRONG.groups.contains(words.get(count - 1)) || KNOWN.groups.contains(words.get(count - 1)))
                && (count == 2 || STRONG.functions.contains(words.get(1)) || KNOWN.functions.contains(words.get(1)));
        if (!complete) {
            throw new PlanRefused(
                    "proposal " + text,
                    count == 3 ? "cipher-function-group" : "cipher-group",
                    text,
                    "use " + (count == 3 ? IKE : ESP));
        }
        return new CipherProposal(text);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CipherProposal proposal && text.equals(proposal.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }
}
