package org.cloister.transport.tls;

import java.net.Socket;
import java.security.AlgorithmConstraints;
import java.security.AlgorithmParameters;
import java.security.CryptoPrimitive;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.cloister.protocol.identity.PeerVerifier;
import org.jspecify.annotations.Nullable;

/**
 * TLS 1.3 settings of links and circuits, with both sides authenticated. Every engine has its own context, so no
 * session can be resumed (RFC 8446, section 2.2); the JDK's provider has no early data.
 */
public final class TlsProfile {
    /** Profile between daemons, with a key exchange cheap enough for a storm of reconnects. */
    public static final TlsProfile LINK = new TlsProfile(
            List.of("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"), Set.of("secp256r1", "secp384r1"), "h2");
    /** Profile for circuits, which carry project secrets. */
    public static final TlsProfile CIRCUIT =
            new TlsProfile(List.of("TLS_AES_256_GCM_SHA384"), Set.of("secp384r1"), null);

    private static final SecureRandom RANDOM = new SecureRandom();

    private final List<String> suites;
    private final AlgorithmConstraints groups;
    private final @Nullable String protocol;

    private TlsProfile(List<String> suites, Set<String> groups, @Nullable String protocol) {
        this.suites = suites;
        this.groups = new OnlyGroups(groups);
        this.protocol = protocol;
    }

    public SSLEngine client(TlsCredential own, PeerVerifier peer) {
        SSLEngine engine = engine(own, peer);
        engine.setUseClientMode(true);
        return engine;
    }

    public SSLEngine server(TlsCredential own, PeerVerifier peer) {
        SSLEngine engine = engine(own, peer);
        engine.setUseClientMode(false);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setNeedClientAuth(true);
        engine.setSSLParameters(parameters);
        return engine;
    }

    private SSLEngine engine(TlsCredential own, PeerVerifier peer) {
        try {
            SSLContext context = SSLContext.getInstance("TLSv1.3");
            context.init(new KeyManager[] {new FixedKeyManager(own)}, new TrustManager[] {new Peer(peer)}, RANDOM);
            SSLEngine engine = context.createSSLEngine();
            SSLParameters parameters = new SSLParameters(suites.toArray(String[]::new), new String[] {"TLSv1.3"});
            parameters.setAlgorithmConstraints(groups);
            if (protocol != null) {
                parameters.setApplicationProtocols(new String[] {protocol});
            }
            engine.setSSLParameters(parameters);
            return engine;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no TLS 1.3", e);
        }
    }

    /**
     * Restricts the key exchange to named groups: JDK 17 has no other way for one engine. The runtime also calls it for
     * suites and versions.
     */
    private record OnlyGroups(Set<String> names) implements AlgorithmConstraints {
        private static final Set<String> FAMILY = Set.of("EC", "ECDH", "ECDHE");

        @Override
        public boolean permits(
                Set<CryptoPrimitive> primitives, String algorithm, @Nullable AlgorithmParameters parameters) {
            return !primitives.contains(CryptoPrimitive.KEY_AGREEMENT)
                    || names.contains(algorithm)
                    || FAMILY.contains(algorithm)
                    || algorithm.startsWith("TLS");
        }

        @Override
        public boolean permits(Set<CryptoPrimitive> primitives, Key key) {
            return true;
        }

        @Override
        public boolean permits(
                Set<CryptoPrimitive> primitives, String algorithm, Key key, @Nullable AlgorithmParameters parameters) {
            return permits(primitives, algorithm, parameters);
        }
    }

    /** Key manager with one certificate, independent of the peer's preferences. */
    private static final class FixedKeyManager extends X509ExtendedKeyManager {
        private final TlsCredential own;

        FixedKeyManager(TlsCredential own) {
            this.own = own;
        }

        private @Nullable String alias(String type) {
            return type.startsWith("EC") ? "own" : null;
        }

        @Override
        public @Nullable String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
            for (String type : types) {
                if (alias(type) != null) {
                    return alias(type);
                }
            }
            return null;
        }

        @Override
        public @Nullable String chooseEngineServerAlias(String type, Principal[] issuers, SSLEngine engine) {
            return alias(type);
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            return own.chain().toArray(X509Certificate[]::new);
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            return own.key();
        }

        @Override
        public String[] getClientAliases(String type, Principal[] issuers) {
            throw new UnsupportedOperationException();
        }

        @Override
        public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
            throw new UnsupportedOperationException();
        }

        @Override
        public String[] getServerAliases(String type, Principal[] issuers) {
            throw new UnsupportedOperationException();
        }

        @Override
        public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
            throw new UnsupportedOperationException();
        }
    }

    /** Trust manager that calls {@link PeerVerifier}, in both directions. */
    private static final class Peer extends X509ExtendedTrustManager {
        private final PeerVerifier trust;

        Peer(PeerVerifier trust) {
            this.trust = trust;
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            trust.verify(List.of(chain));
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            trust.verify(List.of(chain));
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {
            throw new UnsupportedOperationException();
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
