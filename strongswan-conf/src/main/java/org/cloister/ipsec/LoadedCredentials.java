package org.cloister.ipsec;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.cloister.ipsec.vici.ViciClient;
import org.cloister.ipsec.vici.ViciMessage;
import org.cloister.ipsec.vici.ViciReply;
import org.jspecify.annotations.Nullable;

/** The certificates, revocation lists and key that were loaded into charon. Only on the event loop. */
final class LoadedCredentials {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final ViciClient client;
    private final Set<String> formerKeys = new HashSet<>();
    private @Nullable TunnelCredential credential;
    private @Nullable String keyId;
    private @Nullable List<DerCertificate> authorities;
    private @Nullable List<DerRevocationList> revoked;
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    LoadedCredentials(ViciClient client) {
        this.client = client;
    }

    /** Forgets the loaded state after a reconnect, because a restarted charon has none of it. */
    void forget() {
        credential = null;
        authorities = null;
        revoked = null;
    }

    /** Loads what charon does not have yet, so that it is there before a connection that needs it. */
    CompletableFuture<Void> load(TunnelPlan plan) {
        List<CompletableFuture<?>> calls = new ArrayList<>();
        if (!plan.authorities().equals(authorities)) {
            plan.authorities().forEach(each -> calls.add(certificate("X509", "CA", each.der())));
        }
        if (!plan.credential().equals(credential)) {
            calls.add(
                    certificate("X509", "NONE", plan.credential().certificate().der()));
            calls.add(key(plan.credential()));
        }
        if (!plan.revoked().equals(revoked)) {
            plan.revoked().forEach(each -> calls.add(certificate("X509_CRL", "NONE", each.der())));
            // Certificates that were verified before the list arrived must be verified again.
            calls.add(client.callSuccessfully("flush-certs", ViciMessage.empty(), LIMIT));
        }
        last = CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).thenRun(() -> {
            credential = plan.credential();
            authorities = plan.authorities();
            revoked = plan.revoked();
        });
        return last;
    }

    /** Returns the result of the last {@link #load}. */
    CompletableFuture<Void> last() {
        return last;
    }

    /** Unloads the keys of certificates that no tunnel uses any longer. */
    CompletableFuture<ViciReply> unloadFormer() {
        CompletableFuture<ViciReply> last =
                CompletableFuture.completedFuture(new ViciReply(ViciMessage.empty(), List.of()));
        for (String id : formerKeys) {
            last = client.call("unload-key", ViciMessage.empty().with("id", id), LIMIT);
        }
        formerKeys.clear();
        return last;
    }

    private CompletableFuture<ViciReply> key(TunnelCredential owner) {
        return client.loadKey(owner.key(), LIMIT)
                .thenCompose(reply -> ViciClient.requireSuccess("load-key", reply))
                .thenApply(reply -> {
                    String id = reply.message().text("id", "");
                    formerKeys.remove(id);
                    if (keyId != null && !keyId.equals(id)) {
                        formerKeys.add(keyId);
                    }
                    keyId = id;
                    return reply;
                });
    }

    private CompletableFuture<ViciReply> certificate(String type, String flag, byte[] der) {
        ViciMessage request =
                ViciMessage.empty().with("type", type).with("flag", flag).with("data", new ViciMessage.Value(der));
        return client.callSuccessfully("load-cert", request, LIMIT);
    }
}
