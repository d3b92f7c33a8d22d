package e2e
import ("testing";"waypost/bench/fleet";"time";"io")
func TestTmp(t *testing.T){ t.Run("a",tmp); t.Run("b",tmp) }
func tmp(t *testing.T){
 t0:=time.Now()
 f:=start(t,fleet.Spec{})
 t.Log("start",time.Since(t0))
 l:=f.API(t).MustCreate(t,fleet.Fields{"target":"https://example.com/"})
 f.Settle(t)
 c:=f.Edges[0].Dial(t)
 c.Send(fleet.Request{Method:"HEAD",Path:l.Path(),Header:map[string]string{"Connection":"close"}}.Bytes())
 b,_:=io.ReadAll(c); t.Logf("%s",b)
 t0=time.Now(); f.Edges[0].Stop(t); t.Log("stop edge",time.Since(t0))
 t0=time.Now(); f.Edges[1].Stop(t); t.Log("stop edge",time.Since(t0))
 t0=time.Now(); f.Origins[0].Stop(t); t.Log("stop origin",time.Since(t0))
}
