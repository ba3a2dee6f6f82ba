package org.cloister.luks.key;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SignatureException;
import java.security.SignatureSpi;
import org.jspecify.annotations.Nullable;

/** ECDSA with SHA-384; signs with a {@link P384PrivateKey}, and verifies with any public key of the curve. */
final class P384Signature extends SignatureSpi {
    private final P384Calls calls;
    private final ByteArrayOutputStream message = new ByteArrayOutputStream();
    private @Nullable P384PrivateKey privateKey;
    private byte @Nullable [] point;

    P384Signature(P384Calls calls) {
        this.calls = calls;
    }

    @Override
    protected void engineInitSign(PrivateKey key) throws InvalidKeyException {
        if (!(key instanceof P384PrivateKey own)) {
            throw new InvalidKeyException("want a private key of this provider, have another");
        }
        privateKey = own;
        point = null;
        message.reset();
    }

    @Override
    protected void engineInitVerify(PublicKey key) throws InvalidKeyException {
        point = P384Calls.point(key).orElseThrow(() -> new InvalidKeyException("want a key of P-384, have another"));
        privateKey = null;
        message.reset();
    }

    @Override
    protected void engineUpdate(byte each) {
        message.write(each);
    }

    @Override
    protected void engineUpdate(byte[] bytes, int from, int count) {
        message.write(bytes, from, count);
    }

    @Override
    protected byte[] engineSign() throws SignatureException {
        P384PrivateKey key = privateKey;
        if (key == null) {
            throw new SignatureException("not initialized to sign");
        }
        byte[] signed = message.toByteArray();
        message.reset();
        try {
            return key.use(open -> calls.sign(open, signed));
        } catch (IOException | IllegalStateException e) {
            throw new SignatureException(e.getMessage(), e);
        }
    }

    @Override
    protected boolean engineVerify(byte[] signature) throws SignatureException {
        byte[] key = point;
        if (key == null) {
            throw new SignatureException("not initialized to verify");
        }
        byte[] signed = message.toByteArray();
        message.reset();
        try {
            return calls.verifies(key, signed, signature);
        } catch (KeyException.Malformed e) {
            return false;
        } catch (KeyException e) {
            throw new SignatureException(e.getMessage(), e);
        }
    }

    @Override
    @Deprecated
    protected void engineSetParameter(String name, Object value) {
        throw new UnsupportedOperationException();
    }

    @Override
    @Deprecated
    protected Object engineGetParameter(String name) {
        throw new UnsupportedOperationException();
    }
}
